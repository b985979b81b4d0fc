# How much of the code the tests check.
#
#   make coverage       runs all tests on an instrumented build in build-cov/; prints lines and branches by file
#   make coverage-fuzz  runs each fuzz target on the corpus that `make fuzz` left, on the same build; prints how
#                       many lines each target ran
#   make mutants        applies the mistakes of tests/mutants.list one by one; each must make a test fail

COVERAGE_B := build-cov

COVERAGE_MAKE = $(MAKE) B=$(COVERAGE_B) CFLAGS='-O0 -g --coverage -fprofile-update=atomic' HOT_CFLAGS=

coverage:
	+$(COVERAGE_MAKE) tests
	@find $(COVERAGE_B) -name '*.gcda' -delete
	@BUILD=$(COVERAGE_B) tests/run $(CHECK_FLAGS); status=$$?; \
		tests/coverage $(COVERAGE_B) && exit $$status

coverage-fuzz:
	+$(COVERAGE_MAKE) all fuzz-targets
	@for corpus in build-fuzz/corpus/*; do \
		find $(COVERAGE_B) -name '*.gcda' -delete; \
		find "$$corpus" -type f | xargs $(COVERAGE_B)/fuzz/"$${corpus##*/}" >/dev/null 2>&1 || exit 1; \
		tests/coverage $(COVERAGE_B) | sed -n "s|.*  all \(.*\),.*|$${corpus##*/}: \1|p"; done

mutants:
	@tests/mutants

.PHONY: coverage coverage-fuzz mutants

# How much of the code the tests check.
#
#   make coverage     runs all tests on an instrumented build in build-cov/; prints lines and branches by file
#   make mutants      applies the mistakes of tests/mutants.list one by one; each must make a test fail

COVERAGE_B := build-cov

coverage:
	$(MAKE) B=$(COVERAGE_B) CFLAGS='-O0 -g --coverage -fprofile-update=atomic' HOT_CFLAGS= tests
	@find $(COVERAGE_B) -name '*.gcda' -delete
	@BUILD=$(COVERAGE_B) tests/run $(CHECK_FLAGS); status=$$?; \
		tests/coverage $(COVERAGE_B) && exit $$status

mutants:
	@tests/mutants

.PHONY: coverage mutants

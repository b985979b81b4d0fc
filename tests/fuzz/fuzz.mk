# The fuzz targets: each tests/fuzz/NAME.c but those below. Tests link them with replay.c and feed them
# tests/fuzz/regress/NAME/*; `make fuzz` links them with libFuzzer.

FUZZ_HELP_SRC := tests/fuzz/fuzz.c tests/fuzz/replay.c tests/fuzz/runner.c
FUZZ_SRC := $(filter-out $(FUZZ_HELP_SRC),$(wildcard tests/fuzz/*.c))
FUZZ_TARGETS := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/fuzz/%)
FUZZ_MAIN = $(if $(LIBFUZZER),,$(B)/tests/fuzz/replay.o)
FUZZ_CC = $(if $(findstring clang,$(CC)),$(CC),clang)
TIME ?= 60

$(FUZZ_TARGETS): LIBS = $(if $(LIBFUZZER),-fsanitize=fuzzer) $(TEST_LIBS)
$(FUZZ_TARGETS): $(B)/fuzz/%: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/fuzz.o $(B)/tests/fuzz/runner.o $(FUZZ_MAIN) \
		$(UNIT_HELP_LIB) $(LOADGEN_LIB) $(ANALYZE_LIB) $(COMMON_LIB)
	$(link)

fuzz-targets: $(FUZZ_TARGETS)

fuzz:
	$(Q)$(MAKE) CC=$(FUZZ_CC) B=build-fuzz SAN=address,undefined LIBFUZZER=1 \
		CFLAGS='-O2 -g -fsanitize=fuzzer-no-link -include tests/fuzz/small.h' all fuzz-targets
	@tests/fuzz/run --time $(TIME) $(FUZZ_FLAGS)

.PHONY: fuzz fuzz-targets

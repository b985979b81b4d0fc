# s3load and s3analyze.
#
#   make                  both programs into build/, and s3load-mpi if there is an MPI
#   make help             prints this
#   make MPI=1            fails without an MPI; MPI=ompi-c or MPI=mpich chooses one;
#                         MPI=0 builds no s3load-mpi
#   make check            all tests ("N passed, N failed, N skipped");
#                         CHECK_FLAGS=--skip-is-failure in CI
#   make check-fast       quick unit tests, and each command once
#   make hooks            lets git check format, style and layering before each commit
#   make compile-commands build/compile_commands.json for editors
#   make demo             loads the embedded S3 target, analyses the run, writes
#                         build/report.html
#   make bench            speed and memory (tests/bench)
#   make bench-load       cost and clock of s3load
#   make bench-ranks      cost of s3load-mpi, with two ranks
#   make bench-sql        the SQL of sql/ on DuckDB and Spark beside s3analyze
#   make bench-findings   findings in simulated runs with known faults
#   make bench-trend      changes in simulated archives of runs, beside Apache Otava
#   make bench-search     searches for a capacity on simulated servers, by repeat and by MLRsearch
#   make bench-stats      false alarms, coverage and power of the statistics,
#                         simulated
#   make pictures         draws the picture of the README (chromium)
#   make fuzz             fuzzes all readers of input for TIME=60 seconds
#                         (libFuzzer, clang)
#   make valgrind         s3analyze under memcheck
#   make coverage mutants lines that the tests run, and mistakes that they find
#                         (tests/coverage.mk)
#   make install          DESTDIR= PREFIX=/usr/local: programs, man pages, shell
#                         completion, plots
#   make dist deb         the tarball and, from it, the Debian packages: build/,
#                         build/deb/
#   make cross            builds for arm64 and big-endian s390x, compares results
#                         under qemu
#   make constants        counts the numeric literals of the findings
#   make uninstall clean distcheck format format-check layering style
#
# SAN=address,undefined and SAN=thread build into build-asan/ and build-tsan/;
# CC=clang and CFLAGS=... rebuild what they affect; WERROR= allows warnings;
# V=1 shows commands.

RELEASE = 1.0.0
PREFIX ?= /usr/local
PKG_CONFIG ?= pkg-config
CFLAGS ?= -O2 -g
WERROR ?= -Werror
ifeq ($(origin CC),default)
CC = gcc
endif

comma := ,
B := build$(if $(SAN),-$(patsubst address%,asan,$(patsubst thread,tsan,$(subst $(comma),-,$(SAN)))))
Q := $(if $(V),,@)

# A tarball of `make dist` has .version, a checkout knows its commit. Always twelve digits: git's default
# differs between clones.
DESCRIBE := git describe --tags --always --abbrev=12
VERSION := $(shell cat .version 2>/dev/null || $(DESCRIBE) --dirty 2>/dev/null)
VERSION := $(RELEASE)$(if $(VERSION),$(if $(filter $(RELEASE),$(VERSION:v%=%)),,+$(VERSION)))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# --- Sources: every *.c of a folder and its rooms; main.c is the program, the rest its library -----

COMMON_SRC := $(wildcard libcommon/*.c)
ANALYZE_SRC := $(wildcard analyze/*.c analyze/*/*.c analyze/*/*/*.c)
# Not in the library: in s3load-mpi it replaces ranks_one.c.
RANKS_SRC := loadgen/ranks/ranks_mpi.c
LOADGEN_SRC := $(filter-out $(RANKS_SRC),$(wildcard loadgen/*.c loadgen/*/*.c))
TARGET_SRC := $(wildcard tests/target/*.c)
UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
UNIT_HELP_SRC := $(wildcard tests/unit/*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)
ALL_SRC := $(COMMON_SRC) $(ANALYZE_SRC) $(LOADGEN_SRC) $(TARGET_SRC) $(UNIT_SRC) $(UNIT_HELP_SRC) \
	$(BENCH_SRC)
C_FILES := $(wildcard libcommon/*.[ch] analyze/*.[ch] analyze/*/*.[ch] analyze/*/*/*.[ch] loadgen/*.[ch] loadgen/*/*.[ch] \
	tests/*/*.[ch] tests/unit/*/*.[ch])

objects = $(patsubst %.c,$(B)/%.o,$(filter-out %/main.c,$(1)))

COMMON_LIB := $(B)/libcommon.a
ANALYZE_LIB := $(B)/libanalyze.a
LOADGEN_LIB := $(if $(LOADGEN_SRC),$(B)/libloadgen.a)
UNIT_HELP_LIB := $(if $(UNIT_HELP_SRC),$(B)/libunit.a)
PROGRAMS := $(if $(wildcard analyze/main.c),$(B)/s3analyze) $(if $(wildcard loadgen/main.c),$(B)/s3load)
TARGET := $(if $(wildcard tests/target/main.c),$(B)/s3target)
UNIT_TESTS := $(patsubst %.c,$(B)/unit/%,$(notdir $(UNIT_SRC)))
FAULTS := $(if $(SAN),,$(B)/fault.so $(B)/world.so)
BENCHES := $(BENCH_SRC:tests/bench/%.c=$(B)/bench/%)

# --- Libraries: pkg-config module and the Debian package that has it --------------------------------

COMMON_PKGS := libzstd=libzstd-dev
ANALYZE_PKGS := gsl=libgsl-dev jansson=libjansson-dev libcrypto=libssl-dev libxxhash=libxxhash-dev \
	libzip=libzip-dev zlib=zlib1g-dev
LOADGEN_PKGS := libcurl=libcurl4-openssl-dev openssl=libssl-dev expat=libexpat1-dev jansson=libjansson-dev \
	libzip=libzip-dev
TARGET_PKGS := libmicrohttpd=libmicrohttpd-dev openssl=libssl-dev
UNIT_PKGS := cmocka=libcmocka-dev

# The pkg-config modules of MPI. MPI=NAME requires that one, MPI=1 requires any and takes the first,
# MPI=0 builds no s3load-mpi; without MPI=, s3load-mpi is built if there is one.
MPIS := $(filter ompi-c mpich,$(shell for m in ompi-c mpich; do \
	$(PKG_CONFIG) --exists $$m 2>/dev/null && echo $$m; done))
MPI ?=
USED_MPI := $(if $(filter ompi-c mpich,$(MPI)),$(MPI),$(if $(filter 0,$(MPI)),,$(firstword $(MPIS))))
RANKED := $(if $(USED_MPI),$(B)/s3load-mpi)
# For tests, one program with each MPI.
RANKED_TESTS := $(if $(filter 0,$(MPI)),,$(MPIS:%=$(B)/s3load-mpi.%))

modules = $(foreach p,$(1),$(firstword $(subst =, ,$(p))))
pkg_cflags = $(shell $(PKG_CONFIG) --cflags $(call modules,$(1)))
pkg_libs = $(shell $(PKG_CONFIG) --libs $(call modules,$(1)))

NO_BUILD_GOALS := help hooks clean uninstall dist deb format format-check layering style constants
TEST_GOALS := check check-fast tests distcheck compile-commands
NEEDED_PKGS :=
ifneq ($(filter check,$(MAKECMDGOALS)),)
$(info Builds and runs all tests: about 6 minutes on 2 cores.)
endif
ifneq ($(filter-out $(NO_BUILD_GOALS),$(or $(MAKECMDGOALS),all)),)
NEEDED_PKGS := $(COMMON_PKGS) $(ANALYZE_PKGS) $(if $(LOADGEN_SRC),$(LOADGEN_PKGS))
ifneq ($(filter $(TEST_GOALS),$(MAKECMDGOALS)),)
NEEDED_PKGS += $(UNIT_PKGS)
endif
ifneq ($(filter $(TEST_GOALS) demo,$(MAKECMDGOALS)),)
NEEDED_PKGS += $(TARGET_PKGS)
endif
ifeq ($(shell command -v $(firstword $(CC))),)
$(error $(firstword $(CC)) is missing: apt-get install $(firstword $(CC)))
endif
ifeq ($(shell command -v $(PKG_CONFIG)),)
$(error $(PKG_CONFIG) is missing: apt-get install pkg-config)
endif
ifneq ($(filter 1 ompi-c mpich,$(MPI)),)
NEEDED_PKGS += $(or $(USED_MPI),ompi-c)=$(if $(filter mpich,$(MPI)),libmpich-dev,libopenmpi-dev)
endif
missing := $(foreach p,$(NEEDED_PKGS),$(if $(shell \
	$(PKG_CONFIG) --exists $(call modules,$(p)) || echo no),$(lastword $(subst =, ,$(p)))))
# libcsv comes without a pkg-config file.
missing += $(shell echo '#include <csv.h>' | $(CC) -E -o /dev/null - 2>/dev/null || echo libcsv-dev)
ifneq ($(strip $(missing)),)
$(error libraries are missing: apt-get install $(sort $(missing)))
endif
endif

COMMON_LIBS = $(call pkg_libs,$(COMMON_PKGS)) -lpthread -lm
ANALYZE_LIBS = $(call pkg_libs,$(ANALYZE_PKGS)) -lcsv
LOADGEN_LIBS = $(call pkg_libs,$(LOADGEN_PKGS))

# What packing needs: for `make deb` the build dependencies of debian/control without those of tests.
ifneq ($(filter dist distcheck deb,$(MAKECMDGOALS)),)
missing := $(shell [ ! -e .git ] || command -v git >/dev/null || echo git)
ifneq ($(filter deb,$(MAKECMDGOALS)),)
missing += $(shell for p in build-essential $$(sed -n '/^Build-Depends/,/^[^ ]*$$/ { /nocheck/d; \
	s/^ debhelper-.*/debhelper/p; s/^ \([^, ]*\),$$/\1/p; }' debian/control); do \
	dpkg-query -W -f '$${db:Status-Status}' $$p 2>/dev/null | grep -q '^installed' || echo $$p; done)
endif
ifneq ($(strip $(missing)),)
$(error packages are missing: apt-get install $(sort $(missing)))
endif
endif

# --- Compiling --------------------------------------------------------------------------------------

# Buffer overruns end the program. _FORTIFY_SOURCE needs optimisation. Sanitizers find more without it.
# A distribution may choose another level.
HARDENED_CFLAGS = -fstack-protector-strong $(if $(findstring _FORTIFY_SOURCE,$(CFLAGS) $(CPPFLAGS)),, \
	-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
# No fused multiply-add: it would give other digits on some machines.
FIXED_CFLAGS := -std=c17 -D_GNU_SOURCE -Wall -Wextra $(WERROR) -ffp-contract=off -pthread -MMD -MP \
	$(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer, \
	$(if $(filter-out -O0,$(filter -O%,$(CFLAGS))),$(HARDENED_CFLAGS)))
# No lazy binding: it saves vector registers, with pieces of keys, to the stack (tests/cli/test_core_dumps.py).
FIXED_LDFLAGS := -pthread -Wl,-z,now $(if $(SAN),-fsanitize=$(SAN))

$(B)/libcommon/%.o: INCLUDES = -I. $(call pkg_cflags,$(COMMON_PKGS))
$(B)/analyze/%.o: INCLUDES = -I. $(call pkg_cflags,$(ANALYZE_PKGS))
$(B)/loadgen/%.o: INCLUDES = -I. $(call pkg_cflags,$(LOADGEN_PKGS))
$(B)/tests/%.o: INCLUDES = -I. $(call pkg_cflags,$(NEEDED_PKGS))
# The loops over every byte and row are worth unrolling and vectorising.
$(addprefix $(B)/,$(addsuffix .o,analyze/read/rowindex analyze/read/rowparse \
	analyze/data/table analyze/data/unit analyze/summary/estimate/confidence analyze/summary/estimate/latency \
	loadgen/load/payload)): HOT_CFLAGS = $(if $(SAN),,-O3)
$(B)/libcommon/version.o: FIXED_CFLAGS += -DS3_VERSION='"$(VERSION)"'

# Files that are rewritten only if their content changes: compiler and flags, version, list of sources.
write_if_changed = @mkdir -p $(@D); echo '$(1)' | cmp -s - $@ || echo '$(1)' >$@
$(B)/flags: FORCE
	$(call write_if_changed,$(CC) $(FIXED_CFLAGS) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS))
$(B)/version: FORCE
	$(call write_if_changed,$(VERSION))
$(B)/sources: FORCE
	$(call write_if_changed,$(ALL_SRC))
$(B)/libcommon/version.o: $(B)/version

# The styles and the scripts of pages are files, and become strings of the program.
PAGE_FILES := $(addprefix $(B)/analyze/render/page/,page_css page_js flame_js)
define as_string
	@mkdir -p $(@D)
	$(Q){ echo '#include "analyze/render/page/page.h"'; echo 'const char $(notdir $(basename $@))[] ='; \
	  sed 's/[\\"]/\\&/g; s/^/"/; s/$$/\\n"/' $<; echo ';'; } >$@.new && mv $@.new $@
endef
$(B)/analyze/render/page/%_css.c: analyze/render/page/%.css Makefile
	$(as_string)
$(B)/analyze/render/page/%_js.c: analyze/render/page/%.js Makefile
	$(as_string)
$(PAGE_FILES:=.o): %.o: %.c $(B)/flags
	$(if $(V),,@echo "  CC   $@")
	$(Q)$(CC) $(FIXED_CFLAGS) $(CFLAGS) $(INCLUDES) $(CPPFLAGS) -c -o $@ $<

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC   $@")
	$(Q)$(CC) $(FIXED_CFLAGS) $(CFLAGS) $(HOT_CFLAGS) $(INCLUDES) $(CPPFLAGS) -c -o $@ $<

$(COMMON_LIB): $(call objects,$(COMMON_SRC))
$(ANALYZE_LIB): $(call objects,$(ANALYZE_SRC)) $(PAGE_FILES:=.o)
$(B)/libloadgen.a: $(call objects,$(LOADGEN_SRC))
$(B)/libunit.a: $(call objects,$(UNIT_HELP_SRC))
%.a: $(B)/sources
	$(if $(V),,@echo "  AR   $@")
	$(Q)rm -f $@ && $(AR) qcsD $@ $(filter %.o,$^)

define link
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(FIXED_LDFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)
endef

$(B)/s3analyze: LIBS = $(ANALYZE_LIBS) $(COMMON_LIBS)
$(B)/s3analyze: $(B)/analyze/main.o $(ANALYZE_LIB) $(COMMON_LIB)
	$(link)
$(B)/s3load: LIBS = $(LOADGEN_LIBS) $(COMMON_LIBS)
$(B)/s3load: $(B)/loadgen/main.o $(LOADGEN_LIB) $(COMMON_LIB)
	$(link)
# One for each MPI, whose name ends the file name.
$(B)/s3load-mpi.%: $(B)/loadgen/ranks/ranks_mpi.%.o $(B)/loadgen/main.o $(LOADGEN_LIB) $(COMMON_LIB)
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(FIXED_LDFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) \
		$(LOADGEN_LIBS) $(COMMON_LIBS) $(shell $(PKG_CONFIG) --libs $*)
$(B)/loadgen/ranks/ranks_mpi.%.o: loadgen/ranks/ranks_mpi.c $(B)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC   $@")
	$(Q)$(CC) $(FIXED_CFLAGS) $(CFLAGS) -I. $(patsubst -I%,-isystem %,$(shell \
		$(PKG_CONFIG) --cflags-only-I $*)) $(CPPFLAGS) -c -o $@ $<
.PRECIOUS: $(B)/loadgen/ranks/ranks_mpi.%.o
$(B)/s3load-mpi: $(B)/s3load-mpi.$(USED_MPI)
	$(Q)ln -f $< $@
$(B)/s3target: LIBS = $(call pkg_libs,$(TARGET_PKGS)) $(COMMON_LIBS)
$(B)/s3target: $(TARGET_SRC:%.c=$(B)/%.o) $(COMMON_LIB)
	$(link)

TEST_LIBS = $(if $(LOADGEN_LIB),$(LOADGEN_LIBS)) $(ANALYZE_LIBS) $(COMMON_LIBS)
$(UNIT_TESTS): LIBS = $(call pkg_libs,$(UNIT_PKGS)) $(TEST_LIBS)
$(foreach t,$(UNIT_SRC),$(eval $(B)/unit/$(basename $(notdir $t)): $(t:%.c=$(B)/%.o)))
$(UNIT_TESTS): $(UNIT_HELP_LIB) $(LOADGEN_LIB) $(ANALYZE_LIB) $(COMMON_LIB)
	$(link)
# Libraries to preload: they make calls fail (tests/cli/faults.py), change clocks and names
# (tests/cli/test_load_world.py). Not with sanitizers, which must come first.
$(FAULTS): $(B)/%.so: tests/fault/%.c $(B)/flags
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(FIXED_CFLAGS) $(filter-out --coverage,$(CFLAGS)) -U_FORTIFY_SOURCE -fPIC -shared -o $@ $< -ldl
$(BENCHES): LIBS = $(TEST_LIBS)
$(B)/bench/nullserver: $(B)/tests/target/cert.o
$(BENCHES): $(B)/bench/%: $(B)/tests/bench/%.o $(LOADGEN_LIB) $(ANALYZE_LIB) $(COMMON_LIB)
	$(link)

include tests/fuzz/fuzz.mk

# --- Goals ------------------------------------------------------------------------------------------

all: $(COMMON_LIB) $(ANALYZE_LIB) $(LOADGEN_LIB) $(PROGRAMS) $(RANKED)

tests: all $(UNIT_TESTS) $(FUZZ_TARGETS) $(FAULTS) $(TARGET) $(RANKED_TESTS) $(BENCHES)

check: tests layering style
	@BUILD=$(B) tests/run $(CHECK_FLAGS)

# Takes seconds; run it after each change.
SLOW_UNIT_TESTS := test_damage,test_recfile
check-fast: all $(UNIT_TESTS) $(TARGET) layering style
	@BUILD=$(B) tests/run --without $(SLOW_UNIT_TESTS) .c test_cli test_golden test_smoke

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

# For editors: how make compiles each file.
compile-commands:
	@mkdir -p $(B)
	@$(MAKE) --no-print-directory --always-make --dry-run V=1 tests | tests/compile-commands >$(B)/compile_commands.json

hooks:
	install -m 755 tests/pre-commit "$$(git rev-parse --git-path hooks)/pre-commit"

valgrind: all
	@BUILD=$(B) tests/valgrind

demo: all $(TARGET)
	@BUILD=$(B) tests/demo

bench: all $(BENCHES)
	@BUILD=$(B) tests/bench/run $(BENCH_FLAGS)

bench-findings: all
	@tests/bench/findings $(BENCH_FLAGS) $(B)/s3analyze

# In healthy runs of equal hosts that are always busy, at most 1 % may have a problem.
bench-stats: all $(B)/bench/stats $(B)/bench/plans
	$(B)/bench/stats
	$(B)/bench/plans
	tests/bench/findings --seeds 1-13 --most-false .01 $(B)/s3analyze healthy-saturated

bench-trend: $(B)/bench/trend
	@tests/bench/trend $(BENCH_FLAGS) $(B)/bench/trend

bench-search: $(B)/bench/plans
	$(B)/bench/plans searches
	@tests/bench/search $(BENCH_FLAGS) $(B)/bench/plans

bench-sql: all $(BENCHES)
	@BUILD=$(B) tests/bench/sql $(BENCH_FLAGS)

# The cost of s3load, and how true its clock is.
bench-load: all $(BENCHES)
	@BUILD=$(B) tests/bench/load $(BENCH_FLAGS)

bench-ranks: all $(BENCHES) $(RANKED_TESTS)
	@BUILD=$(B) tests/bench/ranks $(BENCH_FLAGS)

# The picture of the README is the first screen of a page.
pictures: all
	$(B)/s3analyze analyze --quiet --force --output /dev/null --html $(B)/page.html testdata/slow-host.csv.zst
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,745 \
		--screenshot=docs/page.png "file://$(CURDIR)/$(B)/page.html"

layering:
	@tests/layering

# Style that clang-format does not check.
style:
	@tests/style

# Limits that someone chose. CONSTANTS_FLAGS: -v, --most N.
constants:
	@tests/constants $(CONSTANTS_FLAGS)

CLANG_FORMAT ?= clang-format-14
format:
	$(CLANG_FORMAT) -i $(C_FILES)
format-check:
	@$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)

# Man pages and completion come from the programs' own option tables.
docs: all
	$(Q)mkdir -p $(B)/man $(B)/completion
	$(Q)set -e; for program in $(PROGRAMS) $(RANKED); do name=$${program##*/}; \
		for page in $$($$program --dump-pages); do $$program --dump-man $$page >$(B)/man/$$page.1; done; \
		for shell in bash zsh fish; do \
			$$program --dump-completion $$shell >$(B)/completion/$$name.$$shell; done; done

BINDIR = $(DESTDIR)$(PREFIX)/bin
MANDIR = $(DESTDIR)$(PREFIX)/share/man/man1
DATADIR = $(DESTDIR)$(PREFIX)/share
BASH_DIR = $(DATADIR)/bash-completion/completions
ZSH_DIR = $(DATADIR)/zsh/site-functions
FISH_DIR = $(DATADIR)/fish/vendor_completions.d
PLOTS_DIR = $(DATADIR)/s3analyze/plots
PLOTS := $(wildcard plots/*)

install: docs
	install -d "$(BINDIR)" "$(MANDIR)" "$(BASH_DIR)" "$(ZSH_DIR)" "$(FISH_DIR)"
	install $(PROGRAMS) $(RANKED) "$(BINDIR)"
	install -m 644 $(B)/man/*.1 "$(MANDIR)"
	set -e; for name in $(notdir $(PROGRAMS) $(RANKED)); do \
		install -m 644 $(B)/completion/$$name.bash "$(BASH_DIR)/$$name"; \
		install -m 644 $(B)/completion/$$name.zsh "$(ZSH_DIR)/_$$name"; \
		install -m 644 $(B)/completion/$$name.fish "$(FISH_DIR)/$$name.fish"; done
	$(if $(PLOTS),install -d "$(PLOTS_DIR)" && install -m 644 $(PLOTS) "$(PLOTS_DIR)")

uninstall:
	for name in s3analyze s3load s3load-mpi; do \
		rm -f "$(BINDIR)/$$name" "$(MANDIR)/$$name.1" "$(MANDIR)/$$name"-*.1 "$(BASH_DIR)/$$name" \
			"$(ZSH_DIR)/_$$name" "$(FISH_DIR)/$$name.fish"; done
	rm -rf "$(DATADIR)/s3analyze"

clean:
	rm -rf build build-*

# The committed tree, the same bytes on every machine, also from an unpacked tarball.
DIST := s3load-$(RELEASE)
dist:
	rm -rf build/dist && mkdir -p build/dist/$(DIST)
	if [ -e .git ]; then git -c core.autocrlf=false archive HEAD; else tar --exclude='./build*' -cf - .; fi | \
		tar -xf - -C build/dist/$(DIST)
	[ ! -e .git ] || $(DESCRIBE) >build/dist/$(DIST)/.version
	tar -C build/dist --format=ustar --sort=name --owner=0 --group=0 --numeric-owner \
		--mode=go=rX,u+rw,a-s --mtime=@$$(if [ -e .git ]; then git log -1 --format=%ct; else stat -c %Y .version; fi) -cf build/$(DIST).tar $(DIST)
	gzip -9nf build/$(DIST).tar
	rm -rf build/dist
	@echo build/$(DIST).tar.gz

# Without the tests, which `make check` runs. In /tmp, as dpkg's flags do not quote the folder.
deb: dist
	rm -rf build/deb && mkdir -p build/deb
	folder=$$(mktemp -d) && trap "rm -rf $$folder" EXIT && tar -xzf build/$(DIST).tar.gz -C $$folder && \
		(cd $$folder/$(DIST) && env -u MAKEFLAGS DEB_BUILD_OPTIONS="nocheck $$DEB_BUILD_OPTIONS" \
		dpkg-buildpackage -us -uc -b -Pnocheck) && rm -rf $$folder/$(DIST) && mv $$folder/* build/deb
	@ls build/deb/*.deb

cross: all
	@BUILD=$(B) tests/cross

# The tarball must pack itself, build, pass its tests, and uninstall what it installed.
distcheck: dist
	rm -rf build/distcheck && mkdir -p build/distcheck
	tar -xzf build/$(DIST).tar.gz -C build/distcheck
	$(MAKE) -C build/distcheck/$(DIST) dist && cmp build/$(DIST).tar.gz build/distcheck/$(DIST)/build/$(DIST).tar.gz
	$(MAKE) -C build/distcheck/$(DIST) all
	$(MAKE) -C build/distcheck/$(DIST) check
	$(MAKE) -C build/distcheck/$(DIST) install DESTDIR="$(CURDIR)/build/distcheck/root"
	$(MAKE) -C build/distcheck/$(DIST) uninstall DESTDIR="$(CURDIR)/build/distcheck/root"
	@left=$$(find build/distcheck/root -type f); \
		if [ -n "$$left" ]; then echo "left behind: $$left"; exit 1; fi
	rm -rf build/distcheck

include tests/coverage.mk

FORCE:
.PHONY: all help tests check check-fast compile-commands hooks valgrind demo bench bench-findings bench-load bench-ranks bench-search bench-sql bench-stats bench-trend pictures \
	layering style constants format format-check docs install uninstall clean dist distcheck deb cross FORCE

-include $(shell find $(B) -type f -name '*.d' 2>/dev/null)

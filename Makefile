# SPDX-License-Identifier: Apache-2.0
# make          builds build/kvio and, beside it, links with the older tools' names
# make demo     records real NVMe passthrough commands in a VM, draws and explains them
# make test     runs every test, including those in the VM (set-up included)
# make check    style: include rules, words, format, static analysis
# make bench    one table of speed ratios
# make fuzz     long fuzzing; install, clean
include config.mk

# A build with other switches has objects of its own, so none is ever mixed.
B := build$(if $(filter 1,$(SAN)),/san)$(if $(filter 0,$(BPF)),/nobpf)
O := $(B)/obj

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || cat VERSION 2>/dev/null || echo unknown)
ARCH := $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')

libs := $(if $(filter 0,$(BPF)),$(LIBS_NO_BPF),$(LIBS))
# Asked once a run, and only when something is built.
PKG_CFLAGS = $(eval PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(libs)))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(libs)))$(PKG_LIBS)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-missing-field-initializers \
	-Wvla -Wformat=2 -Wno-format-nonliteral $(if $(filter 1,$(W)),-Werror)
comma := ,
SANFLAGS := $(if $(filter 1,$(SAN)),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -fno-pie)
# Tests start a sanitized kvio thousands of times: to relocate it and the runtime's library was half of each start.
SANLINK := $(if $(filter 1,$(SAN)),-no-pie)
SANSTATIC := $(if $(filter 1,$(SAN)),$(if $(findstring clang,$(shell $(CC) --version)),,-static-libasan -static-libubsan))
ALL_CFLAGS = -std=gnu11 -pthread $(WARN) -Isrc -I$(O) -D_GNU_SOURCE -DKVIO_BPF=$(BPF) $(SANFLAGS) $(PKG_CFLAGS) $(CFLAGS)

bpf_src := $(if $(filter 0,$(BPF)),,$(wildcard src/trace/*.bpf.c))
skel := $(bpf_src:src/%.bpf.c=$(O)/%.skel.h)
src := $(filter-out src/kvio.c $(wildcard src/*/*.bpf.c) $(if $(filter 0,$(BPF)),$(wildcard src/trace/*.c src/session/*.c)),$(wildcard src/*.c src/*/*.c))
obj := $(src:src/%.c=$(O)/%.o)
main_obj := $(O)/kvio.o
aliases := analyze_load_path iouring_monitor kv_io_size kvio2perfetto kvio_plan kvio_sem2manifest kvio_tp_report \
	kvio_validate mmap_readamp nvme_tp_monitor nvme_uring_cmd_monitor nvme_uring_cmd_smoke syscall_monitor
unit_src := $(wildcard tests/unit/test_*.c)
unit := $(unit_src:tests/unit/%.c=$(B)/unit/%)
helper_src := $(wildcard tests/*.c)
helpers := $(helper_src:tests/%.c=$(B)/tests/%)
bench_bin := $(patsubst bench/%.c,$(B)/bench/%,$(filter-out %.bpf.c $(if $(filter 0,$(BPF)),bench/record_path.c bench/floor.c),$(wildcard bench/*.c)))

# V=1 shows the whole commands.
Q := $(if $(V),,@)
say = $(if $(V),:,printf '  %-5s %s\n')

.PHONY: all demo test check bench fuzz install clean deps unit FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(B)/kvio $(aliases:%=$(B)/%)

$(B)/kvio: $(main_obj) $(B)/libkvio.a
	@$(say) LD $@
	$(Q)$(CC) $(ALL_CFLAGS) $(SANLINK) $(SANSTATIC) $(LDFLAGS) -o $@ $^ $(PKG_LIBS) -lm
$(aliases:%=$(B)/%): $(B)/kvio
	@ln -sf kvio $@
$(B)/libkvio.a: $(obj)
	@$(say) AR $@
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(O)/%.o: src/%.c $(B)/flags
	@mkdir -p $(@D); $(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
# The version is known to one object only, so that a commit rebuilds one file.
$(main_obj): private ALL_CFLAGS += -DKVIO_VERSION='"$(VERSION)"'
$(main_obj): $(B)/version

# What the page is made of is not seen by the compiler's list of includes.
$(O)/out/html_data.o: $(wildcard data/report* /usr/share/javascript/dygraphs/dygraph.min.*)

# So are the models.
$(O)/kv/table.o: data/models.json

# Sources that include a skeleton wait for it.
$(patsubst src/%.bpf.c,$(O)/%.o,$(bpf_src)): $(O)/%.o: $(O)/%.skel.h
$(O)/%.bpf.o: src/%.bpf.c $(B)/flags
	@mkdir -p $(@D); $(say) BPF $<
	$(Q)$(CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_$(ARCH) -Isrc -MMD -MP -c -o $@ $<
$(O)/%.skel.h: $(O)/%.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name $(notdir $*)_bpf > $@

# A change of compiler, flags or version rebuilds what depends on it.
$(B)/flags: FORCE
	@mkdir -p $(@D); new='$(CC) $(CLANG) $(subst ','\'',$(ALL_CFLAGS))'; \
	[ "$$new" = "$$(cat $@ 2>/dev/null)" ] || printf '%s\n' "$$new" > $@
$(B)/version: FORCE
	@mkdir -p $(@D); [ '$(VERSION)' = "$$(cat $@ 2>/dev/null)" ] || echo '$(VERSION)' > $@

$(B)/unit/%: tests/unit/%.c $(B)/libkvio.a
	@mkdir -p $(@D); $(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) -Itests $(SANLINK) -MMD -MP -o $@ $< $(B)/libkvio.a $(PKG_LIBS) -lcmocka -lm
$(B)/tests/%: tests/%.c $(B)/libkvio.a
	@mkdir -p $(@D); $(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) $(SANLINK) -MMD -MP -o $@ $< $(B)/libkvio.a $(PKG_LIBS) -lm
$(O)/bench/%.bpf.o: bench/%.bpf.c $(B)/flags
	@mkdir -p $(@D); $(say) BPF $<
	$(Q)$(CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_$(ARCH) -Isrc -MMD -MP -c -o $@ $<
$(B)/bench/record_path: $(O)/bench/fill.skel.h
$(B)/bench/floor: $(O)/bench/floor.skel.h
$(B)/bench/%: bench/%.c $(B)/libkvio.a
	@mkdir -p $(@D); $(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) $(SANLINK) -MMD -MP -o $@ $< $(B)/libkvio.a $(PKG_LIBS) -lm

unit: $(unit) $(helpers)
deps:
	@scripts/deps
demo: deps
	@$(MAKE) --no-print-directory all
	@scripts/demo $(DEMO_ARGS)
test: deps
	@B=$(B) MAKE='$(MAKE)' scripts/test
check: all
	@scripts/check
bench: all $(bench_bin) $(B)/tests/faults
	@B=$(B) scripts/bench
fuzz:
	@scripts/fuzz long

bindir := $(DESTDIR)$(prefix)/bin
share := $(DESTDIR)$(prefix)/share
install: all
	install -D -m 755 $(B)/kvio $(bindir)/kvio
	for a in $(aliases); do ln -sf kvio $(bindir)/$$a; done
	mkdir -p $(share)/man/man1 $(share)/bash-completion/completions $(share)/zsh/site-functions $(share)/fish/vendor_completions.d
	for c in $$($(B)/kvio help --names); do $(B)/kvio help --man $$c > $(share)/man/man1/kvio-$$c.1 || exit 1; done
	$(B)/kvio completion bash > $(share)/bash-completion/completions/kvio
	$(B)/kvio completion zsh > $(share)/zsh/site-functions/_kvio
	$(B)/kvio completion fish > $(share)/fish/vendor_completions.d/kvio.fish
	install -D -m 644 LICENSE $(share)/doc/kvio/LICENSE
	install -m 644 README.md NEWS.md $(share)/doc/kvio/

# The cache of downloaded kernels is kept: only `rm -rf build` forgets it.
clean:
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name vm -exec rm -rf {} +; fi

-include $(shell find $(O) $(B)/unit $(B)/tests $(B)/bench -name '*.d' 2>/dev/null)

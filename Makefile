# SPDX-License-Identifier: GPL-2.0
#
# The commands of the workshop around the series. Nothing is built in this
# folder: see README.md, "Where things are".

KERNEL ?= plain

help:
	@echo 'Userspace events for perf'
	@echo
	@echo '  make demo     record an instrumented program in a guest, and show what perf makes of it'
	@echo '  make check    run all tests'
	@echo '                (both install what is missing, fetch the kernel source, build, and boot)'
	@echo
	@echo '  make tree     the series as commits on a kernel tree, to edit: TREE=folder'
	@echo '  make save     write that tree back into this checkout'
	@echo '  make mails    the series as mails for git am: MAILS=folder'
	@echo
	@echo '  make kernel   build the kernel of the guest'
	@echo '  make perf     build the perf tool'
	@echo '  make packages install the Debian packages that all this needs'
	@echo '  make clean    remove what was built, but not what was downloaded'
	@echo
	@echo '  vm/run -- COMMAND    run a command in a guest with the built kernel'
	@echo '  check/run NAME       run some of the tests: $(patsubst check/%.sh,%,$(filter-out check/lib.sh,$(wildcard check/*.sh)))'
	@echo
	@echo '  LINUX=/path/to/linux with any of them takes that kernel source instead of the package'

packages:
	@workshop/install

source: packages
	@workshop/fetch
	@workshop/compose >/dev/null

kernel: source
	@workshop/kernel $(KERNEL)

perf: source
	@workshop/perf

tree: packages
	@workshop/fetch
	@workshop/tree

save mails clean:
	@workshop/$@

demo: kernel perf
	@workshop/demo

check: kernel perf
	@check/run

.PHONY: help packages source kernel perf tree save mails clean demo check
# Each step uses all CPUs by itself, and they share the guest's folders.
.NOTPARALLEL:

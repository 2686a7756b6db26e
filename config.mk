# SPDX-License-Identifier: Apache-2.0
# What a builder may want to change; each can be given on make's command line.

prefix  ?= /usr/local
DESTDIR ?=
CC      ?= cc
CLANG   ?= clang
BPFTOOL ?= $(firstword $(shell command -v bpftool /usr/sbin/bpftool 2>/dev/null) bpftool)
PKG_CONFIG ?= pkg-config

# SAN=1: AddressSanitizer and UBSan.  BPF=0: everything but the tracers.  W=1: warnings are errors.
SAN ?= 0
BPF ?= 1
W   ?= 0

# What only tests run is built for them to begin soon.
CFLAGS ?= $(if $(filter 1,$(SAN)),-O1 -g1,-O2 -g)
LIBS    = libbpf liburing libzstd zlib jansson blkid libcap sqlite3 libedit
LIBS_NO_BPF = $(filter-out libbpf,$(LIBS))

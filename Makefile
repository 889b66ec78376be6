# Quorate: `make` lists what can be asked for. Each target installs what it needs first (scripts/bootstrap).
SHELL := /bin/bash
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc)
ARGS ?=

.PHONY: help
help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: bootstrap
bootstrap: ## install the Debian packages and the Go toolchain that are missing
	@scripts/bootstrap

.PHONY: demo demo-stop
demo: release parts-demo ## form a secured three-member etcd in a sandbox, break it in every way, see it return; leaves it running
	@scripts/demo
demo-stop: ## end the sandbox that `make demo` left, and remove its data
	@scripts/demo --stop

.PHONY: test
test: bootstrap-browser ## build with ASan and UBSan; run lint, unit, integration, TSan and fuzz stages
	@scripts/test $(ARGS)

.PHONY: bootstrap-browser
bootstrap-browser: bootstrap
	@scripts/bootstrap --browser

.PHONY: build release
build: bootstrap ## the working build (preset dev)
	@cmake --preset dev >/dev/null && cmake --build --preset dev -j$(JOBS)
release: bootstrap ## what is shipped and measured (preset release): quorate and quorate-launch
	@cmake --preset release >/dev/null && cmake --build --preset release -j$(JOBS) --target quorate quorate-launch

.PHONY: parts parts-demo
parts: bootstrap ## build all real parts: etcd 3.4 to 3.7, kube-apiserver and its companions, the gRPC interop server
	@tests/parts/build all
parts-demo: bootstrap
	@tests/parts/build etcd-3.6.16

# ---- real Kubernetes (tests/rig/README.md): needs root. RIG=name for a second one beside the first. ----
export QUORATE_RIG = $(or $(RIG),default)
NODES ?= 3
.PHONY: image kube-up kube-down kube-shell test-kube test-sandbox bench-kube soak
image: release ## the container image, build/image/quorate.tar, without pulling anything
	@scripts/image
kube-up: bootstrap-kube parts-kube ## start a real Kubernetes of NODES nodes (default 3) on this machine
	@tests/rig/rig up --nodes $(NODES)
kube-down: ## end it; nothing is left
	@tests/rig/rig down
kube-shell: ## a shell in it, with kubectl and etcdctl
	@tests/rig/rig shell
test-kube: bootstrap-kube parts-kube release ## end-to-end tests on a real Kubernetes of their own; ARGS="-k scale", ARGS=--quick
	@scripts/test-kube $(ARGS)
soak: bootstrap-kube parts-kube release ## clusters on a real Kubernetes under faults chosen by chance, for SOAK_MINUTES (default 60)
	@scripts/soak $(ARGS)
bench-kube: bootstrap-kube parts-kube release ## Quorate on a real Kubernetes beside other operators (bench/kube)
	@scripts/bench-kube $(ARGS)
test-sandbox: bootstrap parts-sandbox release ## the same end-to-end tests in a sandbox, those that need no real kubelet; ARGS="-k scale"
	@scripts/test-sandbox $(ARGS)
.PHONY: kills
KILLS ?= 100
kills: bootstrap parts-sandbox ## kill -9 a sandbox KILLS times (default 100) at random moments; nothing acknowledged is lost, no process stays
	@cmake --preset asan --log-level=WARNING && cmake --build --preset asan -j$(JOBS) --target it_sandbox
	@QUORATE_KILLS=$(KILLS) build/asan/it_sandbox --gtest_filter='SandboxKillTest.*'
.PHONY: bootstrap-kube parts-kube parts-sandbox
parts-sandbox: bootstrap
	@tests/parts/build etcd-3.6.16 etcd-3.5.35 kubectl helm
bootstrap-kube: bootstrap
	@scripts/bootstrap --kube
parts-kube: bootstrap
	@tests/parts/build etcd-3.6.16 etcd-3.6.15 kube node helm

.PHONY: sim
sim: bootstrap ## the operator in a simulated world (docs/simulator.md): ARGS="--scenario form --seeds 1000"
	@cmake --preset release >/dev/null && cmake --build --preset release -j$(JOBS) --target sim
	@build/release/sim $(ARGS)

.PHONY: bench
bench: bootstrap ## figures beside the budgets of docs/budgets.md
	@scripts/bench $(ARGS)

.PHONY: fresh
fresh: ## make demo in a Debian 12 root that has nothing but make and git (needs root); ARGS="make test" for another command
	@scripts/fresh $(if $(ARGS),"$(ARGS)")

.PHONY: fuzz
fuzz: bootstrap ## run every fuzzer for SECONDS_EACH seconds (default 60)
	@scripts/fuzz --seconds $${SECONDS_EACH:-60}

.PHONY: tidy format lint manifests dashboards
dashboards: ## write deploy/grafana anew
	@scripts/dashboards
tidy: bootstrap ## clang-tidy over src/
	@scripts/tidy
format: bootstrap ## clang-format over the sources
	@git ls-files '*.h' '*.cc' | xargs clang-format-16 -i
lint: ## layers, style rules, format, and whether metrics, alerts and pages agree
	@scripts/check-layers && scripts/lint && scripts/check-format && scripts/check-docs && { scripts/check-monitoring || [[ $$? == 2 ]]; }
manifests: bootstrap ## generate deploy/crds, deploy/kustomize and docs/reference.md from src/api
	@scripts/manifests

.PHONY: build-report
build-report: bootstrap ## a full build as if the compiler cache were empty, and its ten slowest files
	@scripts/build-report

.PHONY: clean
clean: ## remove build/ (the cache of real parts stays)
	@rm -rf build

# Everything that is built or written goes to build/, which git ignores.

NOTEBOOK ?= notebooks/quickstart.ipynb
LABFLAGS ?=
KILLS ?= 300
FUZZTIME ?= 1m
JOBS ?= 1
ROWS ?= 10000
FUZZ ?=
VERSION ?= $(shell git describe --tags --always --dirty)

.DEFAULT_GOAL := help
.PHONY: help notebook notebooks course lab test torture fuzz arm tensorboard site slurm sweeptimes image kernel clients browser cuda ptx lint notices sbom release vulnerabilities queue pack findings net formats

help: ## list these targets
	@sed -n 's/^\([a-z]*\): .*## /  make \1:	/p' Makefile

notebook: ## run the quickstart notebook in Jupyter, installing what is missing (NOTEBOOK=another.ipynb)
	@notebooks/jupyter.sh execute $(NOTEBOOK)

COMPARISONS := stepsize inpainting sleep acceleration regularisation reinforce estimators metrics convolution gaussian labels
notebooks: ## execute the chapters of the course and eleven notebooks that compare methods, some minutes each, into build/notebooks
	@failed=; for chapter in $$(ls notebooks/course/*.ipynb | sort -V) $(COMPARISONS:%=notebooks/%.ipynb); do \
		notebooks/jupyter.sh execute "$$chapter" || failed="$$failed $$chapter"; \
	done; [ -z "$$failed" ] || { echo "did not run to their end:$$failed"; exit 1; }

course: ## write a student's copy of the course, with folded results, and a teacher's into build/course
	@python3 notebooks/course.py student build/course/student
	@python3 notebooks/course.py teacher build/course/teacher
	@echo "build/course has a student's and a teacher's copy: put one in the place of notebooks/course"

lab: ## open JupyterLab on the notebooks, installing what is missing (LABFLAGS=options)
	@notebooks/jupyter.sh lab $(LABFLAGS)

queue: ## train the published results at their published length on one thread, for days; stop and resume it at will
	@notebooks/queue.sh run

pack: ## copy the trainings of the queue to pretrained/unfinished
	@notebooks/queue.sh pack

test: ## run the tests
	@# The package whose tests take longest begins first.
	go test ./notebooks/thesis ./...

net: ## compare what this program and an earlier one write and print, over 60 small experiments, in minutes (BASE=program)
	go build -o build/net-new ./cmd/helmholtz
	internal/net/net.py '$(BASE)' build/net-new build/net

torture: ## kill the program at every change of a file, let changes fail, damage what it reads, restart its machine; kill the kernel (KILLS=300)
	cd cmd/helmholtz/command && go test -timeout 4h -run '^(TestNothingIsLost|TestNoDamageIsSilent|TestRebootsLoseNothing|TestKilledSweepsLeaveNoWorkers)$$' -torture
	@notebooks/jupyter.sh install
	HELMHOLTZ_TORTURE=$(KILLS) go test -count=1 -v -timeout 4h -run '^(TestOddMessages|TestStrangers|TestKills)$$' ./kernelext/internal/proxy

fuzz: ## look for inputs that break what reads them, each reader for a while (FUZZTIME=10m JOBS=2 FUZZ=pattern)
	HELMHOLTZ_FUZZ_TESTS=1 go test -count=1 ./internal/fuzz
	@internal/fuzz/run.sh $(FUZZTIME) $(JOBS) '$(FUZZ)'

ARM := GOOS=linux GOARCH=arm64 go test -exec qemu-aarch64 -short
arm: ## test the kernels and the engine for arm64 on an emulated processor, for minutes (apt-get install qemu-user)
	@# The emulated program cannot start itself, as the omitted tests ask.
	$(ARM) -skip '^TestEnvironmentVariable$$' ./internal/kernels
	$(ARM) -timeout 1h ./fisher
	$(ARM) -timeout 1h -skip '^TestUnknownInstructionSet$$' -run 'Fixed|/(gradient of|resumption|pairs|divergence|determinism|chunks|binarization)' ./hm/engine/cpu
	$(ARM) -timeout 1h -run 'TestResumeIsExactAcrossInstructionSets' ./hm
	@# Runs that begin on arm64 and resume here end in the bytes of runs that never moved.
	@rm -rf build/arm && mkdir -p build/arm
	go build -o build/arm/here ./cmd/helmholtz
	GOOS=linux GOARCH=arm64 go build -o build/arm/there ./cmd/helmholtz
	@cd build/arm && for method in 'rws' 'ws --optimizer adam' 'bihm --optimizer momentum'; do \
		flags="--dataset glyphs --subset 60 --validation 20 --layers 12,6 --algorithm $$method"; \
		rm -rf stays moves; ./here train $$flags --epochs 3 --out stays && \
		qemu-aarch64 ./there train $$flags --epochs 2 --out moves && ./here train --resume moves --epochs 3 && \
		cmp stays/checkpoint.safetensors moves/checkpoint.safetensors || exit 1; \
	done

tensorboard: ## test that TensorBoard reads the event files of runs, installing it
	@python3 -m venv build/tensorboard && build/tensorboard/bin/pip install --quiet tensorboard==2.21.0
	HELMHOLTZ_TENSORBOARD='$(CURDIR)/build/tensorboard/bin/python' go test -count=1 -v -run '^TestTensorBoard$$' ./runs

site: ## build a site of all pages, notebooks and packages in build/site, and check its links, installing what is missing
	@docs/site/build.sh

slurm: ## test sweeps on a Slurm of this machine alone, as root (apt-get install slurm-wlm munge)
	HELMHOLTZ_SLURM_TESTS=1 go test -count=1 -v -timeout 10m -run '^TestSweepOnSlurm$$' ./cmd/helmholtz/command

sweeptimes: ## time a sweep of 24 runs with 1 worker, with 2, and on Slurm, as root on an idle machine with MNIST (ROWS=10000)
	HELMHOLTZ_SWEEP_ROWS=$(ROWS) go test -count=1 -v -timeout 1h -run '^TestSweepTimes$$' ./cmd/helmholtz/command

image: ## build the image and the one for GPUs, and run two notebooks in the first, as root (apt-get install podman runc debootstrap)
	@.ci/image

kernel: ## test the kernel with Jupyter's own clients, installing what is missing (HELMHOLTZ_SOAK_CELLS=number)
	@notebooks/jupyter.sh install
	HELMHOLTZ_JUPYTER_TESTS=1 go test -count=1 -v -run '^TestInJupyter$$' ./kernelext/kernel

clients: ## try the kernel in other clients of Jupyter, installing them, and write what they did into docs/jupyter.md
	@notebooks/jupyter.sh clients

browser: ## test the kernel in JupyterLab, and the site's live page, in Chromium, installing what is missing but Chromium; screenshots in build/browser
	@notebooks/jupyter.sh browser
	@$(MAKE) --no-print-directory site
	HELMHOLTZ_BROWSER_TESTS=1 go test -count=1 -v -timeout 1h -run '^TestInBrowser$$' ./kernelext/kernel
	HELMHOLTZ_BROWSER_TESTS=1 GOAMD64=v1 go test -count=1 -v -tags purego -run '^TestInBrowser$$' ./cmd/live

cuda: ## build the CUDA engine and test it on an emulated device, installing what is missing
	@$(MAKE) --no-print-directory -f gpu/toolchain/cuda.mk check

ptx: ## compile the CUDA engine's kernel to PTX, which is committed
	@$(MAKE) --no-print-directory -f gpu/toolchain/cuda.mk ptx

formats: ## compare the files that other programs write with what is read, value by value, installing them, with a network (and R, if it is there)
	@python3 -m venv build/formats && build/formats/bin/pip install --quiet -r internal/formats/requirements.txt
	go test -c -o build/formats/reader.test ./dataset/parquet
	@build/formats/bin/python internal/formats/formats.py build/formats/reader.test build/formats/files

findings: ## run the scripts of findings, which install other programs and show their surprises, with a network, for an hour and a half
	@failed=; for script in findings/*.sh; do \
		echo "== $$script"; "$$script" || failed="$$failed $$script"; \
	done; [ -z "$$failed" ] || { echo "behave otherwise now:$$failed"; exit 1; }

notices: ## write NOTICES, the licences of what is linked, anew, with a network
	@mkdir -p build
	.ci/notices >build/NOTICES && mv build/NOTICES NOTICES

sbom: ## write a bill of materials of the program to build/helmholtz.cdx.json, installing what is missing
	@mkdir -p build
	go run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0 app -json -std -main cmd/helmholtz -output build/helmholtz.cdx.json .

release: ## try a release, tagging nothing here, and print the commands that are left (VERSION=v0.9.0)
	@.ci/release '$(VERSION)'

vulnerabilities: ## look for known vulnerabilities (GOVULNDB=address or file:// of another database)
	@.ci/vulnerabilities

lint: ## check formatting, vet, and check types on other systems, WebAssembly among them
	@echo gofmt
	@badly=$$(find . -path ./build -prune -o -name '*.go' -exec gofmt -l {} +); \
		test -z "$$badly" || { echo "not as gofmt writes them:"; echo "$$badly"; exit 1; }
	@hidden=$$(git ls-files -ci --exclude-standard; git ls-files -ci --exclude-from=.dockerignore -- ':!pretrained/unfinished'); \
		test -z "$$hidden" || { echo ".gitignore or .dockerignore hides what is committed:"; echo "$$hidden"; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go run ./internal/elsewhere windows/amd64,darwin/arm64 ./...
	go run ./internal/elsewhere js/wasm ./hm ./boltzmann/... ./plotting
	GOOS=linux GOARCH=arm64 go vet ./internal/kernels

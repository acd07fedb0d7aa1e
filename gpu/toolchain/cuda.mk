# What the CUDA engine is built with, in build/cuda; run from the project's root:
#
#   make -f gpu/toolchain/cuda.mk            build it
#   make -f gpu/toolchain/cuda.mk check      build it, and test the engine with it
#   make -f gpu/toolchain/cuda.mk ptx        write gpu/kernels/walk.ptx
#
# build/cuda/environment, read into a shell, is all that the Go commands need, the
# tag cuda among it:
#
#   . build/cuda/environment
#   go build ./...

toolchain := gpu/toolchain
emulated := $(toolchain)/emulated
kernel := gpu/kernels/walk.cu
build := build/cuda
wheels := $(build)/wheels/requirements.txt
include := $(build)/wheels/nvidia/cuda_runtime/include
nvrtc := $(build)/wheels/nvidia/cuda_nvrtc/lib/libnvrtc.so.12
ptxas := $(build)/wheels/nvidia/cuda_nvcc/bin/ptxas
driver := $(build)/libcuda-emulated.so
test_driver := $(build)/libcuda-emulated-test.so
sanitized_driver := $(build)/libcuda-emulated-sanitized.so

# Each operation rounds once, as the kernels say, and bytes may be read as any type.
EMULATED := -std=c++17 -O2 -march=native -g -fPIC -fvisibility=hidden -ffp-contract=off \
	-fno-strict-aliasing -Wall -Wextra -isystem $(include) -I$(emulated)

# The trampolines are hidden from the driver, whose functions have the same names.
TRAMPOLINES := -O2 -fPIC -fvisibility=hidden -Wall -Wextra -Wno-deprecated-declarations \
	-isystem $(include) -I$(toolchain)

.DELETE_ON_ERROR:
.PHONY: all check compare ptx
all: $(build)/environment $(driver) $(sanitized_driver)

# The pins are copied last, so that an installation that was cut short is made anew.
$(wheels): $(toolchain)/requirements.txt
	@echo "CUDA's headers, NVRTC and ptxas: installing them in $(build)/wheels (90 MB)"
	@rm -rf $(build)/wheels && mkdir -p $(build)
	@python3 -m venv --clear $(build)/venv && \
		$(build)/venv/bin/python -m pip install --quiet --disable-pip-version-check \
			--require-hashes --no-deps --target $(build)/wheels --requirement $< && \
		rm -r $(build)/venv && cp $< $@ || { \
		echo "Installing them failed; the lines above say why."; \
		echo "This needs Linux on x86-64, Python's venv module (on Debian: apt-get install python3-venv)"; \
		echo "and, the first time, a network, to download the packages of $<."; \
		exit 1; } >&2

$(build)/trampolines.c: $(toolchain)/trampolines.py $(wheels)
	$(CC) -E -P $(include)/cuda.h | python3 $< > $@

$(build)/lib/libcuda.a: $(build)/trampolines.c $(toolchain)/driver.c $(toolchain)/driver.h $(toolchain)/problem.h
	@mkdir -p $(@D)
	$(CC) $(TRAMPOLINES) -c $< -o $(build)/trampolines.o
	$(CC) $(TRAMPOLINES) -c $(toolchain)/driver.c -o $(build)/driver.o
	@rm -f $@
	$(AR) rcsD $@ $(build)/trampolines.o $(build)/driver.o

# Go's cache does not know what a library holds; the sum tells it.
$(build)/environment: $(build)/lib/libcuda.a $(toolchain)/cuda.mk
	@{ echo "export CGO_CFLAGS='-O2 -g -I$(CURDIR)/$(include) -Wno-deprecated-declarations -DTRAMPOLINES=$$(cksum < $< | cut -d ' ' -f 1)'"; \
		echo "export CGO_LDFLAGS='-L$(CURDIR)/$(build)/lib -lcuda -ldl -lpthread'"; \
		echo 'export GOFLAGS="$$(go env GOFLAGS) -tags=cuda"'; } > $@

objects := $(patsubst %,$(build)/emulated/%.o,driver fibres memory)
headers := $(wildcard $(emulated)/*.h)

$(build)/emulated/%.o: $(emulated)/%.cc $(headers) $(wheels)
	@mkdir -p $(@D)
	$(CXX) $(EMULATED) -c $< -o $@
$(build)/emulated/walk.o: $(emulated)/kernel.cc $(wildcard gpu/kernels/*.cu gpu/kernels/*.h) $(headers) $(wheels)
	@mkdir -p $(@D)
	$(CXX) $(EMULATED) -DKERNEL='"$(CURDIR)/$(kernel)"' -c $< -o $@
# Emulates tensor cores, which takes twice as long, and stops the process where the
# kernel does what C++ leaves undefined, above all where it loads from a misaligned address.
$(build)/emulated/sanitized.o: $(build)/emulated/walk.o
	$(CXX) $(EMULATED) -DTENSOR_CORES -fsanitize=undefined -fno-sanitize-recover=undefined \
		-DKERNEL='"$(CURDIR)/$(kernel)"' -c $(emulated)/kernel.cc -o $@
$(build)/emulated/test.o: $(emulated)/kernel.cc $(emulated)/test.cu $(headers) $(wheels)
	@mkdir -p $(@D)
	$(CXX) $(EMULATED) -DKERNEL='"test.cu"' -c $< -o $@

$(driver): $(build)/emulated/walk.o $(objects)
	$(CXX) -shared -Wl,-Bsymbolic $^ -o $@
$(sanitized_driver): $(build)/emulated/sanitized.o $(objects)
	$(CXX) -shared -Wl,-Bsymbolic -fsanitize=undefined $^ -o $@
$(test_driver): $(build)/emulated/test.o $(objects)
	$(CXX) -shared -Wl,-Bsymbolic $^ -o $@
$(build)/test-emulated: $(emulated)/test.cc $(test_driver)
	$(CXX) $(EMULATED) $^ -Wl,-rpath,$(CURDIR)/$(build) -o $@
$(build)/test-trampolines: $(toolchain)/test.c $(build)/lib/libcuda.a
	$(CC) -O2 -g -Wall -Wextra -Wno-deprecated-declarations -isystem $(include) $^ -ldl -lpthread -o $@

compare: $(wheels)
	python3 $(toolchain)/ptx.py $(nvrtc) $(kernel)
	python3 $(toolchain)/assemble.py $(ptxas) $(kernel:.cu=.ptx) sm_70
	python3 $(toolchain)/assemble.py $(ptxas) $(kernel:.cu=80.ptx) sm_80 sm_90
ptx: $(wheels)
	python3 $(toolchain)/ptx.py $(nvrtc) $(kernel) --write

# Go's cache of test results does not know the drivers either.
check: all compare $(build)/test-emulated $(build)/test-trampolines
	$(build)/test-trampolines $(test_driver)
	@echo $(build)/test-emulated
	@$(build)/test-emulated 2> $(build)/test-emulated.log || { cat $(build)/test-emulated.log >&2; exit 1; }
	. $(build)/environment && go vet ./gpu/... ./cmd/...
	. $(build)/environment && go tool staticcheck ./gpu/...
	. $(build)/environment && HELMHOLTZ_CUDA_DRIVER=$(CURDIR)/$(driver) go test -count=1 -short -timeout 40m ./gpu/...
	. $(build)/environment && HELMHOLTZ_CUDA_DRIVER=$(CURDIR)/$(sanitized_driver) HELMHOLTZ_EMULATED_THREADS=256 \
		go test -count=1 -short -timeout 40m -run 'Agree|Resume|Memory|Packed|Independent|Conformance/(means|descents|chained)' ./gpu/...

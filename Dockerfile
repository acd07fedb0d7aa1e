# The environment of `make lab` as an image, for Binder or for one's own machine:
#
#   docker build -t helmholtz .
#   docker run --rm -p 8888:8888 helmholtz
#   docker build -t helmholtz:cuda --build-arg TAGS=cuda .     with the engine for GPUs
#   docker run --rm -p 8888:8888 --gpus all helmholtz:cuda
#
# notebooks/jupyter.sh installs here what it installs anywhere else, at the
# versions of go.mod and notebooks/requirements.txt; notebooks/start.sh fills the
# home directory. What changes seldom comes first: a changed notebook is in the last
# layers, and a changed Go file leaves modules and Jupyter as they are.
ARG GO=golang:1.26.8-bookworm
ARG DEBIAN=debian:bookworm-slim

# Go, without its own tests and the history of its interfaces.
FROM ${GO} AS go
RUN rm -r /usr/local/go/test /usr/local/go/api

# The site, whose pages are the files that git tracks.
FROM go AS site
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git npm python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
ENV PATH=/usr/local/go/bin:${PATH} \
    GOTOOLCHAIN=local
WORKDIR /opt/helmholtz
COPY . .
RUN git init --quiet && git add . && docs/site/build.sh

FROM ${DEBIAN}
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
COPY --from=go /usr/local/go /usr/local/go

# Binder passes these two, and starts the image as this user.
ARG NB_USER=jovyan
ARG NB_UID=1000
RUN useradd --create-home --shell /bin/bash --uid ${NB_UID} --user-group ${NB_USER}

# The project and its modules lie outside the home directory, which may be a volume.
ENV USER=${NB_USER} \
    HOME=/home/${NB_USER} \
    PROJECT=/opt/helmholtz \
    GOMODCACHE=/opt/go/modules \
    GOTOOLCHAIN=local \
    HELMHOLTZ_PRETRAINED=/opt/helmholtz/pretrained
# Binder starts jupyter-lab by name, and GoNB finds goimports and gopls on the PATH.
ENV PATH=${PROJECT}/build/venv/bin:${PROJECT}/build/bin:${PATH}:/usr/local/go/bin \
    JUPYTER_PATH=${PROJECT}/build/jupyter \
    HELMHOLTZ_SITE_SERVED=1
RUN install -d -o ${NB_USER} -g ${NB_USER} ${PROJECT} ${GOMODCACHE} /opt/go/cache
USER ${NB_USER}
WORKDIR ${PROJECT}

# Jupyter and Go's tools, whose compiled packages no cell imports. Of modules Go needs
# the files, and not the archives that they came in.
COPY --chown=${NB_USER} go.mod go.sum ./
COPY --chown=${NB_USER} notebooks/jupyter.sh notebooks/requirements.txt notebooks/
COPY --chown=${NB_USER} clients clients
RUN GOCACHE=/tmp/cache PIP_NO_CACHE_DIR=1 notebooks/jupyter.sh tools \
    && find ${GOMODCACHE}/cache/download -name '*.zip' -delete && rm -rf /tmp/cache

# What the engine for GPUs is linked by and with: of CUDA the headers.
ARG TAGS=
USER root
RUN test "${TAGS}" != cuda || { \
        apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev make && rm -rf /var/lib/apt/lists/*; }
USER ${NB_USER}
COPY --chown=${NB_USER} gpu/toolchain gpu/toolchain
RUN test "${TAGS}" != cuda || { \
        PIP_NO_CACHE_DIR=1 make -f gpu/toolchain/cuda.mk build/cuda/environment \
        && find build/cuda/wheels -name '*.so*' -delete && rm -rf build/cuda/wheels/nvidia/cuda_nvcc; }

# The library, compiled, so that the first cell is quick.
COPY --chown=${NB_USER} boltzmann boltzmann
COPY --chown=${NB_USER} cmd cmd
COPY --chown=${NB_USER} dataset dataset
COPY --chown=${NB_USER} docs docs
COPY --chown=${NB_USER} factors factors
COPY --chown=${NB_USER} fisher fisher
COPY --chown=${NB_USER} gpu gpu
COPY --chown=${NB_USER} hm hm
COPY --chown=${NB_USER} internal internal
COPY --chown=${NB_USER} kernelext kernelext
COPY --chown=${NB_USER} plotting plotting
COPY --chown=${NB_USER} runs runs
COPY --chown=${NB_USER} sequences sequences
COPY --chown=${NB_USER} notebooks/cell notebooks/cell
COPY --chown=${NB_USER} notebooks/check notebooks/check
COPY --chown=${NB_USER} notebooks/mixture notebooks/mixture
COPY --chown=${NB_USER} notebooks/reproduce notebooks/reproduce
COPY --chown=${NB_USER} notebooks/thesis notebooks/thesis
RUN if [ "${TAGS}" = cuda ]; then . build/cuda/environment; fi \
    && GOCACHE=/opt/go/cache notebooks/jupyter.sh library \
    && find ${GOMODCACHE}/cache/download -name '*.zip' -delete

COPY --chown=${NB_USER} . .
COPY --chown=${NB_USER} --from=site /opt/helmholtz/build/site/html build/site/html

WORKDIR ${HOME}
EXPOSE 8888
ENTRYPOINT ["/opt/helmholtz/notebooks/start.sh"]
CMD ["jupyter-lab", "--ip=0.0.0.0", "--port=8888", "--no-browser", "--LabApp.default_url=/lab/tree/notebooks/GUIDE.md"]

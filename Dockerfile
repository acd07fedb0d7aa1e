# The environment of `make lab` as an image, for Binder or for one's own machine:
#
#   docker build -t helmholtz .
#   docker run --rm -p 8888:8888 helmholtz
#
# notebooks/jupyter.sh installs here what it installs anywhere else, at the
# versions of go.mod and notebooks/requirements.txt.
FROM golang:1.26.8-bookworm

RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*

# Binder passes these two, and starts the image as this user.
ARG NB_USER=jovyan
ARG NB_UID=1000
RUN useradd --create-home --shell /bin/bash --uid ${NB_UID} --user-group ${NB_USER}

# The Go caches lie in the home directory but outside the project, whose ./...
# they would otherwise join.
ENV USER=${NB_USER} \
    HOME=/home/${NB_USER} \
    GOPATH=/home/${NB_USER}/go
ENV PROJECT=${HOME}/helmholtz

# Binder starts jupyter-lab by name, and GoNB finds goimports and gopls on the PATH.
ENV PATH=${PROJECT}/build/venv/bin:${PROJECT}/build/bin:${PATH} \
    JUPYTER_DATA_DIR=${PROJECT}/build/jupyter

USER ${NB_USER}
RUN mkdir ${PROJECT}
COPY --chown=${NB_USER}:${NB_USER} . ${PROJECT}

# This also compiles what the cells import, so that the first one is quick.
RUN PIP_NO_CACHE_DIR=1 ${PROJECT}/notebooks/jupyter.sh install

WORKDIR ${PROJECT}/notebooks
EXPOSE 8888
CMD ["jupyter-lab", "--ip=0.0.0.0", "--port=8888", "--no-browser"]

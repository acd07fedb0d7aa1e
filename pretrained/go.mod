module github.com/helmholtz-go/helmholtz/pretrained

go 1.26

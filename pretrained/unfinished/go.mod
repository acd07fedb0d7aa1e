module github.com/helmholtz-go/helmholtz/pretrained/unfinished

go 1.26

// Command helmholtz trains, evaluates and draws models of every family.
package main

import "github.com/helmholtz-go/helmholtz/cmd/helmholtz/command"

func main() { command.Main() }

package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// kindsOfValues say what flags of pflag's own types take.
var kindsOfValues = map[string]string{
	"int": "a whole number", "uint64": "a whole number of at least 0", "float64": "a number", "bool": "true or false",
	"intSlice": "whole numbers, separated by commas",
}

// flagError says of a wrong flag what is wrong and what to do.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	switch {
	case errors.As(err, &unknown):
		var all []string
		c.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, "--"+f.Name) })
		return fmt.Errorf("%w%s", err, names.Meant("--"+unknown.GetSpecifiedName(), all...))
	case errors.As(err, &invalid) && errors.As(err, &number):
		f := invalid.GetFlag()
		return fmt.Errorf("--%s=%s: give %s", f.Name, invalid.GetValue(), kindsOfValues[f.Value.Type()])
	case errors.As(err, &invalid) && invalid.GetFlag().Name == "metric" && new(hm.Metric).UnmarshalText([]byte(invalid.GetValue())) == nil:
		return fmt.Errorf("--metric=%s: the metric of Helmholtz machines is --fisher %[1]s, and --metric that of Boltzmann machines", invalid.GetValue())
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s=%s: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	}
	return err
}

// argumentError says of a wrong argument that is no command which is meant.
func argumentError(c *cobra.Command, args []string, err error) error {
	if len(args) == 0 || !c.HasAvailableSubCommands() {
		return err
	}
	var all []string
	for _, child := range c.Commands() {
		all = append(all, child.Name())
	}
	return fmt.Errorf("%w%s", err, names.Meant(args[0], all...))
}

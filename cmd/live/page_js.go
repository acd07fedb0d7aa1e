package main

import (
	"encoding/json"
	"syscall/js"
)

// main gives JavaScript two functions, each of which returns a promise: helmholtzLoad(model file), and
// helmholtzCall(name, JSON).
func main() {
	var p *page
	js.Global().Set("helmholtzLoad", promising(func(args []js.Value) (any, error) {
		file := make([]byte, args[0].Length())
		js.CopyBytesToGo(file, args[0])
		var err error
		if p, err = load(file); err != nil {
			return nil, err
		}
		return p.shape(), nil
	}))
	js.Global().Set("helmholtzCall", promising(func(args []js.Value) (any, error) {
		return calls[args[0].String()](p, []byte(args[1].String()))
	}))
	js.Global().Call("helmholtzReady")
	select {}
}

// promising wraps a function for JavaScript. Its promise resolves to the result as JSON.
func promising(f func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		var executor js.Func
		executor = js.FuncOf(func(_ js.Value, settle []js.Value) any {
			resolve, reject := settle[0], settle[1]
			go func() {
				defer executor.Release()
				result, err := f(args)
				text, failure := json.Marshal(result)
				if err == nil {
					err = failure
				}
				if err != nil {
					reject.Invoke(js.Global().Get("Error").New(err.Error()))
					return
				}
				resolve.Invoke(string(text))
			}()
			return nil
		})
		return js.Global().Get("Promise").New(executor)
	})
}

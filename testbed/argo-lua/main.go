// argo-lua SCRIPT runs a health check as Argo CD does: in its interpreter, with the libraries base, package and table alone,
// and for one second at most. In: objects as JSON on stdin. Out: for each a line of JSON, {"status", "message"} or {"error"}.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"
)

type answer struct {
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
}

func main() {
	if len(os.Args) != 2 {
		fail(errors.New("which script? argo-lua SCRIPT <objects.json"))
	}
	script, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	objects, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var object map[string]any
		if err := objects.Decode(&object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			fail(err)
		}
		one, err := judge(string(script), object)
		if err != nil {
			one = answer{Error: err.Error()}
		}
		if err := answers.Encode(one); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "argo-lua:", err)
	os.Exit(1)
}

func judge(script string, object map[string]any) (answer, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	libraries := []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}}
	for _, library := range libraries {
		open := lua.P{Fn: state.NewFunction(library.open), Protect: true}
		if err := state.CallByParam(open, lua.LString(library.name)); err != nil {
			return answer{}, err
		}
	}
	second, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(second)
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(script); err != nil {
		return answer{}, err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return answer{}, fmt.Errorf("the script returns a %s", state.Get(-1).Type())
	}
	one := answer{Status: table.RawGetString("status").String(), Message: table.RawGetString("message").String()}
	switch one.Status {
	case "Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown":
		return one, nil
	}
	return answer{}, fmt.Errorf("Argo CD knows no status %q", one.Status)
}

// value is a value of JSON as Argo CD hands it over: a null is nothing.
func value(state *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case bool:
		return lua.LBool(v)
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []any:
		table := state.CreateTable(len(v), 0)
		for _, item := range v {
			table.Append(value(state, item))
		}
		return table
	case map[string]any:
		table := state.CreateTable(0, len(v))
		for key, item := range v {
			table.RawSetH(lua.LString(key), value(state, item))
		}
		return table
	}
	return lua.LNil
}

// flux-cel runs health check expressions as Flux does: the fields of the object are the variables, the first of inProgress,
// failed and current that holds decides, and a generation that was not looked at yet is in progress.
//
//	flux-cel EXPRESSIONS.json <objects.json
//
// In: an object with the expressions; objects as JSON on stdin. Out: for each a line, InProgress, Failed, Current, or the
// error, with which Flux goes on to wait.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
)

func main() {
	var expressions struct{ InProgress, Failed, Current string }
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(text, &expressions)
	}
	if err != nil {
		fail(err)
	}
	objects := json.NewDecoder(os.Stdin)
	for {
		var object map[string]any
		if err := objects.Decode(&object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			fail(err)
		}
		fmt.Println(judge(object, [][2]string{
			{expressions.InProgress, "InProgress"}, {expressions.Failed, "Failed"}, {expressions.Current, "Current"},
		}))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "flux-cel:", err)
	os.Exit(1)
}

func judge(object map[string]any, expressions [][2]string) string {
	metadata, _ := object["metadata"].(map[string]any)
	if status, ok := object["status"].(map[string]any); ok && status["observedGeneration"] != nil &&
		status["observedGeneration"] != metadata["generation"] {
		return "InProgress"
	}
	for _, one := range expressions {
		if one[0] == "" {
			continue
		}
		holds, err := evaluate(one[0], object)
		if err != nil {
			return "error: " + err.Error()
		}
		if holds {
			return one[1]
		}
	}
	return "InProgress"
}

func evaluate(expression string, object map[string]any) (bool, error) {
	environment, err := cel.NewEnv(ext.Strings(), cel.Variable("apiVersion", cel.DynType), cel.Variable("kind", cel.DynType),
		cel.Variable("metadata", cel.DynType), cel.Variable("spec", cel.DynType), cel.Variable("status", cel.DynType))
	if err != nil {
		return false, err
	}
	syntax, issues := environment.Compile(expression)
	if issues.Err() != nil {
		return false, issues.Err()
	}
	program, err := environment.Program(syntax)
	if err != nil {
		return false, err
	}
	value, _, err := program.Eval(object)
	if err != nil {
		return false, err
	}
	holds, ok := value.Value().(bool)
	if !ok {
		return false, fmt.Errorf("%s is no boolean", expression)
	}
	return holds, nil
}

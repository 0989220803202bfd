// promql reads queries as Prometheus does. In: a query a line on stdin, each a JSON string. Out: for each a line of JSON,
// {"selectors": [{"name", "labels"}], "labels": […]}: what it asks for and by which labels it groups and joins; or {"error"}.
// Or in: {"rules": [{"alert", "expr", "for"}], "series": ["mysql_up 1x30"]}; out: {"fires": […]}, see alerts.go.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

type selector struct {
	Name   string   `json:"name"`
	Labels []string `json:"labels"`
}

type answer struct {
	Selectors []selector `json:"selectors,omitempty"`
	Labels    []string   `json:"labels,omitempty"`
	Fires     []string   `json:"fires,omitempty"`
	Error     string     `json:"error,omitempty"`
}

func main() {
	queries, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var line json.RawMessage
		if err := queries.Decode(&line); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			fail(err)
		}
		var found answer
		var query string
		var of situation
		if json.Unmarshal(line, &query) == nil {
			found = read(query)
		} else if err := json.Unmarshal(line, &of); err == nil {
			found = fires(of)
		} else {
			fail(err)
		}
		if err := answers.Encode(found); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "promql:", err)
	os.Exit(1)
}

func read(query string) answer {
	expression, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return answer{Error: err.Error()}
	}
	var found answer
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		switch node := node.(type) {
		case *parser.VectorSelector:
			one := selector{Name: node.Name, Labels: []string{}}
			for _, matcher := range node.LabelMatchers {
				if matcher.Name != labels.MetricName {
					one.Labels = append(one.Labels, matcher.Name)
				}
			}
			found.Selectors = append(found.Selectors, one)
		case *parser.AggregateExpr:
			found.Labels = append(found.Labels, node.Grouping...)
		case *parser.BinaryExpr:
			if node.VectorMatching != nil {
				found.Labels = append(found.Labels, node.VectorMatching.MatchingLabels...)
			}
		}
		return nil
	})
	return found
}

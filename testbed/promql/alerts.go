package main

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// situation: series as promtool's unit tests write them, a value a minute; and the rules that look at them.
type situation struct {
	Rules  []rule   `json:"rules"`
	Series []string `json:"series"`
}

type rule struct {
	Alert string `json:"alert"`
	Expr  string `json:"expr"`
	For   string `json:"for"`
}

// fires: the names of the alerts that fire at the last value, once each, in order.
func fires(of situation) answer {
	querier := &storage.MockQuerier{}
	var all []storage.Series
	last := 0
	for _, line := range of.Series {
		lset, values, err := parser.NewParser(parser.Options{}).ParseSeriesDesc(line)
		if err != nil {
			return answer{Error: line + ": " + err.Error()}
		}
		var samples []chunks.Sample
		for minute, value := range values {
			if !value.Omitted {
				samples = append(samples, sample{int64(minute) * time.Minute.Milliseconds(), value.Value})
			}
		}
		last = max(last, len(values)-1)
		all = append(all, storage.NewListSeries(lset, samples))
	}
	querier.SelectMockFunction = func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		return &set{of: slices.DeleteFunc(slices.Clone(all), func(series storage.Series) bool {
			return slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(series.Labels().Get(m.Name)) })
		})}
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute})
	end := time.UnixMilli(0).Add(time.Duration(last) * time.Minute)
	found := answer{Fires: []string{}}
	for _, rule := range of.Rules {
		wait, err := model.ParseDuration(rule.For)
		if err != nil {
			return answer{Error: rule.Alert + ": " + err.Error()}
		}
		begin := end.Add(-time.Duration(wait))
		query, err := engine.NewRangeQuery(context.Background(), &storage.MockQueryable{MockQuerier: querier}, nil, rule.Expr, begin, end, time.Minute)
		if err != nil {
			return answer{Error: rule.Alert + ": " + err.Error()}
		}
		matrix, err := query.Exec(context.Background()).Matrix()
		if err != nil {
			return answer{Error: rule.Alert + ": " + err.Error()}
		}
		// true at every look since `for`
		looks := int(time.Duration(wait)/time.Minute) + 1
		if slices.ContainsFunc(matrix, func(series promql.Series) bool { return len(series.Floats) == looks }) {
			found.Fires = append(found.Fires, rule.Alert)
		}
		query.Close()
	}
	slices.Sort(found.Fires)
	return found
}

// set: series one after another.
type set struct {
	of  []storage.Series
	now storage.Series
}

func (s *set) Next() bool {
	if len(s.of) == 0 {
		return false
	}
	s.now, s.of = s.of[0], s.of[1:]
	return true
}
func (s *set) At() storage.Series                { return s.now }
func (s *set) Err() error                        { return nil }
func (s *set) Warnings() annotations.Annotations { return nil }

// sample: a number at a time.
type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                      { return s.at }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

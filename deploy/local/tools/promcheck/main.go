// What Prometheus makes of /metrics pages: reads scrapes, recording rules and queries as JSON from standard input, takes the
// scrapes in with Prometheus's own parser and storage, and writes what its query engine and promtool's linter say to
// standard output.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/tsdb"
)

type scrape struct {
	// Unix time.
	AtMs int64  `json:"atMs"`
	Text string `json:"text"`
	// Labels of the target.
	Target map[string]string `json:"target"`
}

type rule struct {
	Record string `json:"record"`
	Expr   string `json:"expr"`
}

type request struct {
	Scrapes []scrape `json:"scrapes"`
	// Recorded in their order at the last scrape's time.
	Rules []rule `json:"rules"`
	// Evaluated at the last scrape's time.
	Queries []string `json:"queries"`
}

type sample struct {
	Labels map[string]string `json:"labels"`
	// Null: not a number, or infinite.
	Value *float64 `json:"value"`
}

type problem struct {
	Metric string `json:"metric"`
	Text   string `json:"text"`
}

type result struct {
	Samples []sample `json:"samples"`
	// Names of the series that the query selects.
	Selects []string `json:"selects"`
	// What Prometheus has against the query.
	Error string `json:"error,omitempty"`
}

type answer struct {
	// In the order of the queries.
	Results []result `json:"results"`
	// Of the last scrape.
	Problems []problem `json:"problems"`
}

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "promcheck:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	var asked request
	if err := json.NewDecoder(in).Decode(&asked); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	if len(asked.Scrapes) == 0 {
		return errors.New("standard input: at least one scrape is needed")
	}
	dir, err := os.MkdirTemp("", "promcheck")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := tsdb.Open(dir, nil, nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, taken := range asked.Scrapes {
		if err := store(ctx, db, taken); err != nil {
			return fmt.Errorf("scrape at %d: %w", taken.AtMs, err)
		}
	}
	last := asked.Scrapes[len(asked.Scrapes)-1]
	at := time.UnixMilli(last.AtMs)
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: time.Minute})
	for _, each := range asked.Rules {
		if err := record(ctx, db, engine, each, at); err != nil {
			return fmt.Errorf("rule %s: %w", each.Record, err)
		}
	}
	results := make([]result, 0, len(asked.Queries))
	for _, text := range asked.Queries {
		results = append(results, evaluate(ctx, db, engine, text, at))
	}
	problems, err := lint(last.Text)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(answer{Results: results, Problems: problems})
}

// store takes a page in as a scrape does, with the labels that a target adds.
func store(ctx context.Context, db *tsdb.DB, taken scrape) error {
	page, err := textparse.New([]byte(taken.Text), "text/plain", "", false, false, false, labels.NewSymbolTable())
	if err != nil {
		return err
	}
	appender := db.Appender(ctx)
	for {
		entry, err := page.Next()
		if errors.Is(err, io.EOF) {
			return appender.Commit()
		}
		if err != nil {
			return err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		_, _, value := page.Series()
		var series labels.Labels
		page.Labels(&series)
		if _, err := appender.Append(0, ofTarget(series, taken.Target), taken.AtMs, value); err != nil {
			return err
		}
	}
}

// ofTarget adds the target's labels where the series has none of this name, as a scrape with honor_labels does.
func ofTarget(series labels.Labels, target map[string]string) labels.Labels {
	builder := labels.NewBuilder(series)
	for name, value := range target {
		if series.Get(name) == "" {
			builder.Set(name, value)
		}
	}
	return builder.Labels()
}

func instant(ctx context.Context, db *tsdb.DB, engine *promql.Engine, text string, at time.Time) (promql.Vector, error) {
	query, err := engine.NewInstantQuery(ctx, db, nil, text, at)
	if err != nil {
		return nil, err
	}
	return query.Exec(ctx).Vector()
}

func record(ctx context.Context, db *tsdb.DB, engine *promql.Engine, asked rule, at time.Time) error {
	vector, err := instant(ctx, db, engine, asked.Expr, at)
	if err != nil {
		return err
	}
	appender := db.Appender(ctx)
	for _, each := range vector {
		series := labels.NewBuilder(each.Metric).Set(labels.MetricName, asked.Record).Labels()
		if _, err := appender.Append(0, series, at.UnixMilli(), each.F); err != nil {
			return err
		}
	}
	return appender.Commit()
}

func evaluate(ctx context.Context, db *tsdb.DB, engine *promql.Engine, text string, at time.Time) result {
	answered := result{Samples: []sample{}, Selects: []string{}}
	parsed, err := parser.ParseExpr(text)
	if err != nil {
		answered.Error = err.Error()
		return answered
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			answered.Selects = append(answered.Selects, selector.Name)
		}
		return nil
	})
	vector, err := instant(ctx, db, engine, text, at)
	if err != nil {
		answered.Error = err.Error()
		return answered
	}
	for _, each := range vector {
		answered.Samples = append(answered.Samples, sample{Labels: each.Metric.Map(), Value: finite(each.F)})
	}
	return answered
}

func finite(value float64) *float64 {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return nil
	}
	return &value
}

func lint(page string) ([]problem, error) {
	found, err := promlint.New(strings.NewReader(page)).Lint()
	if err != nil {
		return nil, err
	}
	problems := make([]problem, 0, len(found))
	for _, each := range found {
		problems = append(problems, problem{Metric: each.Metric, Text: each.Text})
	}
	return problems, nil
}

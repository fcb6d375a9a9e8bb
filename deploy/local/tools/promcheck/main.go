// What Prometheus makes of a /metrics page: reads scrapes and queries as JSON from standard input, takes the scrapes in
// with Prometheus's own parser and storage, and writes what its query engine and promtool's linter say to standard output.
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
	"github.com/prometheus/prometheus/tsdb"
)

type scrape struct {
	// Unix time.
	AtMs int64  `json:"atMs"`
	Text string `json:"text"`
}

type request struct {
	Scrapes []scrape `json:"scrapes"`
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

type answer struct {
	// In the order of the queries.
	Results [][]sample `json:"results"`
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
	results, err := evaluate(ctx, db, asked.Queries, time.UnixMilli(last.AtMs))
	if err != nil {
		return err
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
		target := labels.NewBuilder(series).Set("job", "vllm").Set("instance", "replica:8080").Labels()
		if _, err := appender.Append(0, target, taken.AtMs, value); err != nil {
			return err
		}
	}
}

func evaluate(ctx context.Context, db *tsdb.DB, queries []string, at time.Time) ([][]sample, error) {
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1_000_000,
		Timeout:    time.Minute,
	})
	results := make([][]sample, 0, len(queries))
	for _, text := range queries {
		query, err := engine.NewInstantQuery(ctx, db, nil, text, at)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		vector, err := query.Exec(ctx).Vector()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		samples := make([]sample, 0, len(vector))
		for _, each := range vector {
			samples = append(samples, sample{Labels: each.Metric.Map(), Value: finite(each.F)})
		}
		results = append(results, samples)
		query.Close()
	}
	return results, nil
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

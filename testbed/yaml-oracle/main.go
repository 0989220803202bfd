// yaml-oracle answers what Kubernetes itself makes of a text: as YAML, as a stream of documents, as a quantity, as a
// cron schedule. The code is that of Kubernetes, pinned in go.mod; nothing is decided here.
//
// It reads requests on stdin, each a line "<what> <length>" and then that many bytes, and answers each with one line
// of JSON on stdout: {"ok": …} or {"error": "…"}. With both, "ok" is what was read before the error.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

type answer struct {
	OK    any    `json:"ok,omitempty"`
	Error string `json:"error,omitempty"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	defer out.Flush()
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return
		}
		if err != nil {
			fail(err)
		}
		what, length, found := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		size, err := strconv.Atoi(length)
		if !found || err != nil {
			fail(fmt.Errorf("no request: %q", line))
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(in, text); err != nil {
			fail(err)
		}
		reply, err := json.Marshal(ask(what, text))
		if err != nil {
			fail(err)
		}
		out.Write(reply)
		out.WriteByte('\n')
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "yaml-oracle:", err)
	os.Exit(1)
}

func ask(what string, text []byte) (reply answer) {
	defer func() {
		if caught := recover(); caught != nil {
			reply = answer{Error: fmt.Sprint("panic: ", caught)}
		}
	}()
	switch what {
	case "yaml":
		return document(text)
	case "stream":
		return stream(text)
	case "quantity":
		return quantity(string(text))
	case "cron":
		return schedule(string(text))
	}
	return answer{Error: "unknown request " + what}
}

// document reads one YAML document, as the API server and kubectl do.
func document(text []byte) answer {
	value, err := yaml.YAMLToJSON(text)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{OK: json.RawMessage(value)}
}

// stream reads a file as the visitors of kubectl do (k8s.io/cli-runtime/pkg/resource/visitor.go).
func stream(text []byte) answer {
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	documents := []any{}
	for {
		extension := runtime.RawExtension{}
		if err := decoder.Decode(&extension); err != nil {
			if errors.Is(err, io.EOF) {
				return answer{OK: documents}
			}
			return answer{OK: documents, Error: err.Error()}
		}
		raw := bytes.TrimSpace(extension.Raw)
		if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
			continue
		}
		// The next step of kubectl and of the API server: numbers become int64 or float64.
		var value any
		if err := utiljson.Unmarshal(raw, &value); err != nil {
			return answer{OK: documents, Error: err.Error()}
		}
		documents = append(documents, value)
	}
}

// quantity gives the spelling that a server stores, the canonical one, and the exact value in billionths.
func quantity(text string) answer {
	parsed, err := resource.ParseQuantity(text)
	if err != nil {
		return answer{Error: err.Error()}
	}
	stored := parsed.String()
	fresh := parsed.DeepCopy()
	digits, suffix := fresh.CanonicalizeBytes(make([]byte, 0, 64))
	nano := new(big.Int)
	decimal := parsed.AsDec()
	scale := 9 - int64(decimal.Scale())
	nano.Set(decimal.UnscaledBig())
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(scale, -scale)), nil)
	if scale >= 0 {
		nano.Mul(nano, power)
	} else {
		nano.Quo(nano, power)
	}
	value, milli := parsed.Value(), parsed.MilliValue()
	return answer{OK: map[string]any{
		"stored": stored, "canonical": string(digits) + string(suffix), "nano": nano.String(),
		"value": strconv.FormatInt(value, 10), "milli": strconv.FormatInt(milli, 10),
	}}
}

// schedule reads "<start in seconds>\n<schedule>" and gives the next 40 runs in UTC, or fewer if it never fires again.
func schedule(text string) answer {
	start, spec, _ := strings.Cut(text, "\n")
	seconds, err := strconv.ParseInt(start, 10, 64)
	if err != nil {
		return answer{Error: err.Error()}
	}
	parsed, err := cron.ParseStandard(spec)
	if err != nil {
		return answer{Error: err.Error()}
	}
	runs := []int64{}
	at := time.Unix(seconds, 0).UTC()
	for len(runs) < 40 {
		at = parsed.Next(at)
		if at.IsZero() {
			break
		}
		runs = append(runs, at.Unix())
	}
	return answer{OK: runs}
}

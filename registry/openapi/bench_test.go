package openapi

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The document is the corpus's biggest if that has 14 MB, else one made to that size.
func BenchmarkParse14MB(b *testing.B) {
	document := large(b)
	for name, o := range map[string]Options{"as it is": {Member: "bench"},
		"references resolved": {Member: "bench", ResolveRefs: true}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			for b.Loop() {
				if r := parsed(b, document, o); len(r.Tools) < 1000 {
					b.Fatalf("%d tools, want more than 1,000", len(r.Tools))
				}
			}
		})
	}
}

// BenchmarkParse14MBOfYAML reads a made document as JSON and as the same in YAML.
func BenchmarkParse14MBOfYAML(b *testing.B) {
	text := made(7_500_000) // in blocks it has 14 MB
	for _, document := range []struct {
		name string
		text []byte
	}{{"JSON", text}, {"YAML", asYAML(b, text)}} {
		b.Run(document.name, func(b *testing.B) {
			b.SetBytes(int64(len(document.text)))
			b.ReportAllocs()
			for b.Loop() {
				if r := parsed(b, document.text, Options{Member: "bench"}); len(r.Tools) < 1000 {
					b.Fatalf("%d tools, want more than 1,000", len(r.Tools))
				}
			}
			b.ReportMetric(float64(len(document.text))/1e6, "MB/document")
		})
	}
}

// BenchmarkUnmarshalAny is the floor: the same bytes, decoded and not looked at.
func BenchmarkUnmarshalAny(b *testing.B) {
	document := large(b)
	b.SetBytes(int64(len(document)))
	b.ReportAllocs()
	for b.Loop() {
		var v any
		if err := json.Unmarshal(document, &v); err != nil {
			b.Fatal(err)
		}
	}
}

func large(b *testing.B) []byte {
	files, _ := filepath.Glob(filepath.Join(os.Getenv(corpus), "*", "*.json"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Size() >= 14<<20 && info.Size() < 16<<20 {
			text, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			return text
		}
	}
	return made(14_000_000)
}

// made writes a document of about so many bytes with 1,100 operations: parameters, a body,
// and answers with examples, which are most of a large document.
func made(size int) []byte {
	const operations = 1100
	var doc strings.Builder
	doc.WriteString(`{"openapi":"3.0.3","info":{"title":"large","version":"1"},"components":{"schemas":{"Owner":{"type":"object","properties":{"login":{"type":"string"},"id":{"type":"integer"}}}}},"paths":{`)
	parameter := `{"name":"p%d","in":"query","description":"narrows the list\nby a property","schema":{"type":"string","enum":["asc","desc"],"default":"asc"}},`
	example := `{"id":1296269,"node_id":"MDEwOlJlcG9zaXRvcnkx","name":"Hello-World","private":false,"owner":{"login":"octocat","id":1,"url":"https://api.example.test/users/octocat"},"topics":["a","b"],"score":1.5,"license":null},`
	for i := range operations {
		if i > 0 {
			doc.WriteByte(',')
		}
		fmt.Fprintf(&doc, `"/repos/{owner}/things%d":{"post":{"operationId":"things/create%d","summary":"Create a thing","parameters":[`, i, i)
		for j := range 8 {
			fmt.Fprintf(&doc, parameter, j)
		}
		doc.WriteString(`{"name":"owner","in":"path","required":true,"schema":{"type":"string"}}],"requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"owner":{"$ref":"#/components/schemas/Owner"},"tags":{"type":"array","items":{"type":"string"}}}}}}},"responses":{"200":{"description":"ok","content":{"application/json":{"example":[`)
		for rest := (i+1)*(size/operations) - doc.Len(); rest > 0; rest -= len(example) {
			doc.WriteString(example)
		}
		doc.WriteString(`null]}}}}}}`)
	}
	doc.WriteString("}}")
	return []byte(doc.String())
}

package openapi

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/registry/lint"
)

// newestDocument has what OpenAPI 3.2 adds.
const newestDocument = `{"openapi":"3.2.0","$self":"https://api.example.com/openapi","info":{"title":"t","version":"1",
	"summary":"All of it"},
	"servers":[{"url":"https://api.example.com","name":"prod"}],
	"tags":[{"name":"pets","summary":"Pets","parent":"all","kind":"nav"},{"name":"all","summary":"All"}],
	"paths":{"/pets":{"summary":"Pets","query":{"operationId":"find","tags":["pets"],
	"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"q":{"type":"string"}}}}}},
		"responses":{"200":{"summary":"Found","description":"ok",
		"content":{"application/jsonl":{"itemSchema":{"type":"object"}}}}}},
		"get":{"operationId":"list","responses":{"200":{"summary":"ok","description":"ok"}}},
		"additionalOperations":{"COPY":{"responses":{"200":{"description":"ok"}}}}}}}`

func TestNewestOpenAPIIsAccepted(t *testing.T) {
	r := parsed(t, []byte(newestDocument), Options{})
	if r.Version != "3.2.0" || len(r.Tools) != 2 || r.Tools[1].Name != "find" || r.Tools[1].Description != "Pets" {
		t.Errorf("version %s, tools %+v", r.Version, r.Tools)
	}
	if advice := Advise(t.Context(), []byte(newestDocument), lint.Check); len(advice) > 0 {
		t.Errorf("Advise() = %q of a good document", advice)
	}
	older := strings.Replace(newestDocument, `"3.2.0"`, `"3.1.0"`, 1)
	if advice := Advise(t.Context(), []byte(older), lint.Check); len(advice) == 0 {
		t.Error("the tags of 3.2 are none of 3.1, and nobody says so")
	}
}

package main

import (
	"strings"
	"testing"
)

func TestTheAgentListsAndCalls(t *testing.T) {
	var said strings.Builder
	if err := run(t.Context(), &said); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"name":"sky__getWeather"`, `"description":"The weather in a city"`, `"enum":["C","F"]`,
		`"structuredContent":{"city":"São Paulo","degrees":70}`, `"isError":true`, `city`,
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the agent does not say %s:\n%s", want, &said)
		}
	}
}

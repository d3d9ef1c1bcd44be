package main

import (
	"strings"
	"testing"
)

func TestTheServiceIsItsOwnTool(t *testing.T) {
	var said strings.Builder
	if err := run(t.Context(), &said); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"keystile__get_quota: How many calls the application has left",
		`"structuredContent":{"code":1,"msg":"success","data":{"tier":"white_label","quota":{"calls_remaining":50000,`, // the Shop's, not the Agent's
		`"granularity":"day"`,
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("it does not say %s:\n%s", want, &said)
		}
	}
	for _, never := range []string{"isError", "keystile__send_mcp_message", "keystile__issue_token", "keystile__register_capability"} {
		if strings.Contains(said.String(), never) {
			t.Errorf("it says %s:\n%s", never, &said)
		}
	}
}

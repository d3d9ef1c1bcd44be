package tools

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"reflect"
	"testing"
)

func TestToolsKeepWhatANewerVersionHasWritten(t *testing.T) {
	later := `[{"name":"a","description":"A","inputSchema":{},"call":{"template":"/a","of_later":1}},{"name":"b","description":"B","inputSchema":{},"of_later":{"x":[]}}]`
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte(later))
	w.Close()
	tools, err := unpack(packed.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	again, err := pack(tools)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(again))
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.NewDecoder(r).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(later), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the tools are written as %v, want %v", got, want)
	}
}

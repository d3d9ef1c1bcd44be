package mcpcall

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestUpstreamsProgressIsForwardedIfRequested(t *testing.T) {
	long := strings.Repeat("m", 1023)
	for _, era := range []Era{Modern, Legacy} {
		u := serve(t, &upstream{era: era, first: says("tools/call", func(w http.ResponseWriter, _ *http.Request, m sent) {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, params := range []string{
				`{"progressToken":$id,"progress":0}`,
				`{"progressToken":$id,"progress":1.50,"total":9007199254740993,"message":"half \u00e9\n"}`,
				`{"progressToken":$id,"progress":2e3,"total":"x","message":7}`,
				`{"progressToken":$id,"progress":3,"message":"` + long + `"}`,
				`{"progressToken":"$id","progress":4}`, `{"progressToken":0,"progress":5}`, `{"progress":6}`, `{"progressToken":$id}`,
				`{"progressToken":$id,"progress":"7"}`, `{"progressToken":$id,"progress":null}`, `{"progressToken":$id,"progress":1e999}`, `{"progressToken":$id,"progress":` + strings.Repeat("8", 65) + `}`, `[]`, `7`,
			} {
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":%s}\n\n",
					strings.ReplaceAll(params, "$id", m.id))
			}
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","+
				"\"params\":{\"progressToken\":%s,\"progress\":9}}\n\n", m.id)
			io.WriteString(w, `data: {"jsonrpc":"2.0","id":`+m.id+`,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}]}}`+"\n\n")
		})})
		var received []string
		ctx := WithProgress(t.Context(),
			func(p Progress) { received = append(received, fmt.Sprintf("%s of %s %s", p.Done, p.Total, p.Message)) })
		r, err := client(t, Config{}).Call(ctx, u.at(), "x", nil)
		want := []string{"0 of  ", `1.50 of 9007199254740993 "half \u00e9\n"`, "2e3 of  ", "3 of  "}
		if err != nil || texts(r) != "done" || !slices.Equal(received, want) {
			t.Errorf("%s: %q, %v, told %q; want %q", era, texts(r), err, received, want)
		}
		last := u.last()
		if meta := string(last.params["_meta"]); !strings.Contains(meta, `"progressToken":`+last.id) {
			t.Errorf("%s: the upstream is asked with %s", era, meta)
		}
	}
}

func TestProgressIsSentOnlyWhenRequested(t *testing.T) {
	for _, era := range []Era{Modern, Legacy} {
		u := serve(t, &upstream{era: era, stream: true})
		r, err := client(t, Config{}).Call(t.Context(), u.at(), "x", nil)
		if body := u.last().body; err != nil || texts(r) != "done" || strings.Contains(body, "progressToken") {
			t.Errorf("%s: %q, %v, asked with %s", era, texts(r), err, body)
		}
	}
}

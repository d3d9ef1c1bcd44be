package dialogue

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// echo answers with what it was sent, in a fixed order.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Token", "rt_"+strings.Repeat("a", 43))
	w.WriteHeader(201)
	fmt.Fprintf(w, `{"method":%q,"path":%q,"header":%q,"body":%q}`, r.Method, r.URL, r.Header.Get("X-In"), body)
})

const request = `== it echoes
rows: 1/a 1/b
> POST /x?q={{value}}
> X-In: {{value}}
>
> a={{value:form}}
> &b=2

`

func play(t *testing.T, text string) error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "d.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := Read(file)
	if err != nil {
		return err
	}
	values := map[string]string{"value": "v&w"}
	for _, s := range all[0].steps {
		if err := s.play(echo, "http://x", values); err != nil {
			return err
		}
	}
	return nil
}

func TestDialogueHoldsWhatIsWritten(t *testing.T) {
	for _, answer := range []string{
		"< 201\n",
		"< 201\n< X-Token: {{token:refresh}}\n<~ \"method\":\"POST\"\n",
		"< 201\n<\n< {\n<   \"method\": \"POST\",\n<   \"path\": \"http://x/x?q={{value}}\",\n" +
			"<   \"header\": \"{{:some}}\",\n<   \"body\": \"a=v%26w&b=2\"\n< }\n",
		"< 201\n< X-Token: {{token:refresh}}\n\n> GET /{{token}}\n< 201\n<~ /rt_aaaa\n",
	} {
		if err := play(t, request+answer); err != nil {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

func TestDialogueNoticesEveryDifference(t *testing.T) {
	for name, answer := range map[string]string{
		"status":           "< 200\n",
		"header":           "< 201\n< X-Token: rt_x\n",
		"absent header":    "< 201\n< X-Other: {{:some}}\n",
		"shape":            "< 201\n< X-Token: {{:int}}\n",
		"unknown shape":    "< 201\n< X-Token: {{:nonsense}}\n",
		"unknown value":    "< 201\n< X-Token: {{nobody}}\n",
		"text in the body": "< 201\n<~ nowhere\n",
		"body value": "< 201\n<\n< {\n<   \"method\": \"GET\",\n<   \"path\": \"{{:some}}\",\n" +
			"<   \"header\": \"{{:some}}\",\n<   \"body\": \"{{:some}}\"\n< }\n",
		"missing field": "< 201\n<\n< {\n<   \"method\": \"POST\"\n< }\n",
		"order of fields": "< 201\n<\n< {\n<   \"path\": \"{{:some}}\",\n<   \"method\": \"POST\",\n" +
			"<   \"header\": \"{{:some}}\",\n<   \"body\": \"{{:some}}\"\n< }\n",
		"no answer": "",
	} {
		if play(t, request+answer) == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
}

func TestFileThatMakesNoSenseIsRefused(t *testing.T) {
	for _, text := range []string{"> GET /\n", "== x\nwhat\n", "== x\nwait soon\n", "== x\n< 200\n"} {
		if play(t, text) == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestRequestIsSentAsOftenAsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "d.txt")
	text := "== it counts\n\ntimes 3\n> GET /\n\n< 200\n\n> GET /\n\n< 200\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	all[0].Play(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { n++ }), "http://x", nil)
	if n != 4 {
		t.Errorf("sent %d times, want 3 and 1", n)
	}
}

func TestRowIsProvenAndNoOther(t *testing.T) {
	const rows = "# the rows\n1/a\n1/b later\n\n1/c\n"
	for _, c := range []struct {
		proven  []string
		covered int
		wrong   string
	}{
		{[]string{"1/a", "1/c"}, 2, ""},
		{[]string{"1/a", "1/b", "1/c"}, 3, ""},
		{[]string{"1/a"}, 1, "no dialogue proves the row 1/c"},
		{[]string{"1/a", "1/c", "1/d"}, 2, "a dialogue claims the row 1/d, which rows.txt does not list"},
	} {
		proven := map[string]bool{}
		for _, row := range c.proven {
			proven[row] = true
		}
		listed, covered, wrong := cover(rows, proven)
		if listed != 3 || covered != c.covered || strings.Join(wrong, "; ") != c.wrong {
			t.Errorf("cover(%q) = %d, %d, %q; want 3, %d, %q", c.proven, listed, covered, wrong, c.covered, c.wrong)
		}
	}
}

package signin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/internal/web"
)

func TestFormIsReadInOneWayOrNotAtAll(t *testing.T) {
	const kind = "application/x-www-form-urlencoded"
	good := "username=mina&password=correct+horse"
	for _, c := range []struct {
		promise, kind, body string
		want                int
	}{
		{"as the page sends it", kind, good, 303},
		{"with a charset", kind + "; charset=UTF-8", good, 303},
		{"with a field it does not know", kind, good + "&remember=1", 303},
		{"as JSON", "application/json", `{"username":"mina"}`, 400},
		{"as multipart", "multipart/form-data; boundary=x", good, 400},
		{"as text", "text/plain", good, 400},
		{"without a type", "", good, 400},
		{"username twice", kind, good + "&username=root", 400},
		{"password twice", kind, good + "&password=", 400},
		{"query twice", kind, good + "&query=a&query=b", 400},
		{"username not UTF-8", kind, "username=%ff&password=x", 400},
		{"password not UTF-8", kind, "username=mina&password=%c3%28", 400},
		{"query not UTF-8", kind, good + "&query=%ff", 400},
		{"a broken escape", kind, "username=%zz&password=x", 400},
		{"a semicolon", kind, "username=mina;password=x", 400},
		{"nothing", kind, "", 400},
		{"64 KiB", kind, good + "&x=" + strings.Repeat("x", web.MaxForm-len(good)-3), 303},
		{"a byte more", kind, good + "&x=" + strings.Repeat("x", web.MaxForm-len(good)-2), 413},
		{"a query too long to come back", kind, good + "&query=" + strings.Repeat("x", web.MaxQuery+1), 400},
	} {
		rm := newFixture(t, nil)
		r := httptest.NewRequest("POST", origin+"/oauth/signin", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		a := rm.do(r)
		if a.Code != c.want || (a.cookie() != "") != (c.want == http.StatusSeeOther) {
			t.Errorf("%s: %d with cookie %q, want %d", c.promise, a.Code, a.cookie(), c.want)
		}
		if a.Code >= 400 && !strings.Contains(a.body, "<h1") {
			t.Errorf("%s: %q, want a page", c.promise, a.body)
		}
	}
}

func TestAddressBarIsNoForm(t *testing.T) {
	rm := newFixture(t, nil)
	r := post()
	r.URL.RawQuery = "username=mina&password=correct+horse"
	if a := rm.do(r); a.Code != http.StatusBadRequest || a.cookie() != "" {
		t.Errorf("credentials in the URL = %d, want 400 as for an empty form", a.Code)
	}
}

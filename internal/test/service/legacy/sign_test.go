package legacy_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/apidoc"
	"github.com/keystile/keystile/internal/md5sign"
	"github.com/keystile/keystile/legacy"
)

// Decision 63. The text that is signed does not tell where a value ends: an application
// that takes state from its own visitors would sign another request.
func TestSignatureIsNotMovedToAnotherRequest(t *testing.T) {
	h := newFixture(t)
	now := unix(time.Now())
	rest := "&timestamp=" + now + "&type=self"
	honest := h.signed(form("act", "login", "appid", "1000", "redirect_uri", redirect, "state",
		"1&timestamp="+now+"&type=qq&z=", "type", "self"))
	forged := form("act", "login", "appid", "1000", "redirect_uri", redirect, "state", "1", "timestamp", now, "type", "qq",
		"z", rest, "sign", honest.Get("sign"))
	if md5sign.Of(h.app, forged) != honest.Get("sign") {
		t.Fatal("the two have different signatures: nothing is tested")
	}
	h.call(request("GET", "/connect.php", honest)).refuses(t, "what was signed", 101)
	h.call(request("POST", "/connect.php", forged)).refuses(t, "what was made of it", 101)

	for name, v := range map[string]url.Values{
		"a value that takes state in": form("act", "login", "appid", "1000", "q", redirect+"&state=s"),
		"a name that takes state in":  form("act", "login", "appid", "1000", "redirect_uri", redirect, "state=s&x", "y"),
	} {
		h.call(request("GET", "/connect.php", h.signed(v))).refuses(t, name, 101)
	}
}

func TestValueMayHoldWhatItsEndpointDoesNotKnow(t *testing.T) {
	h := newFixture(t)
	for _, c := range []struct {
		path string
		v    url.Values
		code int // errcode, 0: success
	}{
		{"/connect.php", form("act", "login", "appid", "1000", "redirect_uri", redirect+"?a=1&state=2&type=x", "state",
			"a=b&c=d&token=e"), 0},
		{"/connect.php", form("act", "login", "appid", "1000", "redirect_uri", redirect, "state", "a&code=b"), 101},
		{"/connect.php", form("act", "login", "appid", "1000", "redirect_uri", redirect, "own", "a&social_uid=b"), 101},
		{"/check_token.php", form("appid", "1000", "token", "x", "own", "a&state=b&type=c"), 401},
		{"/check_token.php", form("appid", "1000", "token", "x", "own", "a&access_token=b"), 101},
		{"/check_token.php", form("appid", "1000", "token", "x", "redirect_uri", "a&access_token=b"), 101},
	} {
		a := h.call(request("GET", c.path, h.signed(c.v)))
		if c.code == 0 {
			a.wants(t, c.v.Encode(), 1)
		} else {
			a.refuses(t, c.v.Encode(), c.code)
		}
	}
	h.connect("login", "redirect_uri", redirect, "state", "a&type=b").wants(t, "without a signature nothing is ambiguous",
		1)
}

// A name that an endpoint learns has to be one that no value may hide.
func TestNamesThatNoValueMayHideAreThoseOfTheDocument(t *testing.T) {
	text := must(apidoc.Of(new(legacy.Legacy).OpenAPI()).JSON(apidoc.Example))(t)
	var document struct {
		Paths map[string]struct {
			Get struct{ Parameters []struct{ Name string } }
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	h := newFixture(t)
	for path, base := range map[string]url.Values{
		"/connect.php":     form("act", "login", "appid", "1000", "redirect_uri", redirect),
		"/check_token.php": form("appid", "1000", "token", "x"),
	} {
		parameters := document.Paths[path].Get.Parameters
		if len(parameters) < 6 {
			t.Fatalf("%s has the parameters %v: nothing is tested", path, parameters)
		}
		for _, p := range parameters {
			v := url.Values{}
			for name, values := range base {
				v[name] = slices.Clone(values)
			}
			v.Set("own", "a&"+p.Name+"=b")
			h.call(request("GET", path, h.signed(v))).refuses(t, path+" with &"+p.Name+"=", 101)
		}
	}
}

package host

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestRootOfAServiceSaysWhatIsHere(t *testing.T) {
	c, _ := newConfig()
	service := start(t, c)
	var places map[string]string
	w := ask(service, "GET", "/", "")
	if err := json.Unmarshal(w.Body.Bytes(), &places); err != nil || w.Code != 200 {
		t.Fatalf("it is answered %d %s", w.Code, w.Body)
	}
	if len(places) < 3 || places["console"] != base+"/console/" {
		t.Errorf("it says %v", places)
	}
	for name, address := range places {
		path := strings.TrimPrefix(address, base)
		if w := ask(service, "GET", path, "", "Accept", "text/html"); w.Code >= 400 && w.Code != 401 {
			t.Errorf("%s: %s is answered %d", name, path, w.Code)
		}
	}
	for lang, want := range map[string]string{"en": ">Console<", "zh": ">控制台<"} {
		w := ask(service, "GET", "/", "", "Accept", "text/html", "Accept-Language", lang)
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) ||
			!strings.Contains(w.Body.String(), base+"/console/") {
			t.Errorf("in %s it is answered %d\n%s", lang, w.Code, w.Body)
		}
	}
}

func TestPathOfNobodyIsAnsweredInTheFormOfItsClient(t *testing.T) {
	c, _ := newConfig()
	service := start(t, c)
	for accept, want := range map[string]string{
		"text/html": "There is no such page", "application/json": `"errcode":404`,
	} {
		w := ask(service, "GET", "/nothing", "", "Accept", accept)
		if w.Code != 404 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("to %s it is answered %d %s", accept, w.Code, w.Body)
		}
	}
}

func TestRootOfTheHostTakesThePlaceOfOurs(t *testing.T) {
	c, _ := newConfig()
	service := start(t, c)
	service.Handle("/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "mine") }))
	for _, path := range []string{"/", "/nothing"} {
		if w := ask(service, "GET", path, "", "Accept", "text/html"); w.Code != 200 || w.Body.String() != "mine" {
			t.Errorf("%s is answered %d %s", path, w.Code, w.Body)
		}
	}
	if w := ask(service, "GET", "/.well-known/openid-configuration", ""); w.Code != 200 || w.Body.String() == "mine" {
		t.Errorf("what is ours is answered %d %s", w.Code, w.Body)
	}
}

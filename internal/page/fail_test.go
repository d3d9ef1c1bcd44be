package page

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestFailureSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	r := httptest.NewRequest("GET", "/oauth/authorize?client_id=nobody&ui_locales=zh-CN", nil)
	w := httptest.NewRecorder()
	if err := Fail(w, r, 400, "This request cannot go on", "this application is disabled"); err != nil {
		t.Fatal(err)
	}
	if w.Code != 400 {
		t.Errorf("status = %d, want 400", w.Code)
	}
	for _, want := range []string{`<html lang="zh-CN">`, ">此请求无法继续<", `role="alert"`, ">该应用已被停用<", "状态码 400"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// WCAG 3.1.2: a part in another language says so.
func TestTextWithoutTranslationIsMarkedAsEnglish(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Language", "zh-CN")
	w := httptest.NewRecorder()
	Fail(w, r, 400, "This request cannot go on", `redirect_uri: <b>"x"</b>`)
	if want := `<p class="lead" role="alert" lang="en">redirect_uri: &lt;b&gt;&#34;x&#34;&lt;/b&gt;</p>`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("the page lacks %q", want)
	}
}

func TestFailureShowsNothingOfTheRequest(t *testing.T) {
	r := httptest.NewRequest("GET", "/oauth/authorize?redirect_uri=https://evil.example/&state=EVIL", nil)
	w := httptest.NewRecorder()
	Fail(w, r, 400, "This request cannot go on", "this application is disabled")
	for _, bad := range []string{"evil", "EVIL", "<a ", "http-equiv", "<form"} {
		if strings.Contains(w.Body.String()+w.Header().Get("Content-Security-Policy"), bad) {
			t.Errorf("the page or its policy holds %q", bad)
		}
	}
	if l := w.Header().Get("Location"); l != "" {
		t.Errorf("Location = %q, want none", l)
	}
}

// A page of a failure shows the way out of it.
func TestFailureWithAWayOnHasOneLink(t *testing.T) {
	r := httptest.NewRequest("GET", "/oauth/signin?redirect_uri=https://evil.example/", nil)
	r.Header.Set("Accept-Language", "zh-CN")
	w := httptest.NewRecorder()
	FailTo(w, r, 400, "This request cannot go on", "this application is disabled", Way{"/oauth/signin", "Back to sign-in"})
	if body := w.Body.String(); !strings.Contains(body, `<a class="button quiet" href="/oauth/signin">返回登录</a>`) || strings.Count(body, "<a ") != 1 || strings.Contains(body, "evil") {
		t.Errorf("the page is %s", body)
	}
}

package console_test

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// Nobody has to know the name of a field to make an application's old clients see a success.
func TestCodeOfASuccessIsAskedForInWords(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	app := h.app("Forum", root.Sub)
	shows := func(lang string, wants ...string) {
		t.Helper()
		text := h.call("GET", "/console/apps/"+app.ID+"/settings", root.cookie, strings.NewReader(""),
			"Accept-Language", lang, "Accept", "text/html").text
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("the page in %s lacks %q: %s", lang, want, text)
			}
		}
	}
	shows("en", `<option value="1" selected>code 1, as this service documents it`,
		`<option value="0">code 0, as clients of aggregated logins expect it`)
	h.want(h.do("PATCH", "/api/console/apps/"+app.ID, root.cookie, `{"legacy_success_code":0}`), 200, 1,
		"the code of old clients")
	shows("en", "Success at connect.php", `<option value="0" selected>`)
	shows("zh-CN", "connect.php 的成功代码", "聚合登录客户端所期待的取值")
}

package consent

import (
	"testing"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/methods"
	"github.com/keystile/keystile/oauth/signin/internal/web"
)

func TestPermissionsHaveTextInBothLanguages(t *testing.T) {
	for _, p := range Permissions("openid profile email groups tools apps tools:shop tools:b:support tools/read " +
		"tools:shop/getPet") {
		if page.Chinese.Of(p.text) != page.Chinese {
			t.Errorf("%q is not translated", p.text)
		}
	}
	if got := len(Permissions("openid profile email groups tools apps tools:shop tools:b:support tools/read " +
		"tools:shop/getPet")); got != 10 {
		t.Errorf("of nine names that have words %d are said", got-1)
	}
	for _, text := range []string{theseGroups, manyGroups, noGroups} {
		if page.Chinese.Of(text) != page.Chinese {
			t.Errorf("%q is not translated", text)
		}
	}
	for _, label := range methods.Names {
		if label != "QQ" && page.Chinese.Of(label) != page.Chinese {
			t.Errorf("%q is not translated", label)
		}
	}
	for _, f := range []string{web.LastMethod.Msg, web.OwnUsername.Msg, web.HalfSignedOutMsg, web.AuditFailedMsg} {
		if page.Chinese.Of(f) != page.Chinese {
			t.Errorf("%q is not translated", f)
		}
	}
	if got := len(Permissions("")); got != 1 {
		t.Errorf("a grant of nothing says %d things, want the one that is true of each", got)
	}
}

package connector_test

import (
	"context"
	"fmt"
	"log"
	"net/url"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/storage"
)

func Example() {
	wx, err := connector.NewWX(connector.WX{ID: "wx0123456789abcdef", Secret: storage.NewSecret("secret")})
	if err != nil {
		log.Fatal(err)
	}
	address, err := wx.Begin(context.Background(), connector.Visit{State: "state bound to this browser",
		Back: "https://id.example.com/oauth/signin/with/wx/return"})
	if err != nil {
		log.Fatal(err)
	}
	to, err := url.Parse(address)
	fmt.Println(to.Host, to.Query().Get("appid"), err)
	// The browser comes back there with state and code; then
	//	profile, err := wx.Finish(r.Context(), back, r.URL.Query())
	// Output: open.weixin.qq.com wx0123456789abcdef <nil>
}

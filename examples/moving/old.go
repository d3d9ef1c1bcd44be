package main

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// oldWay signs people in by connect.php, as applications were written to. Nothing in it knows Keystile:
// base, appid and appkey are its configuration.
type oldWay struct{ base, appid, appkey, back string }

func (o oldWay) begin(ctx context.Context, v visit) (string, error) {
	answer, err := o.call(ctx, url.Values{"act": {"login"}, "type": {"self"}, "redirect_uri": {o.back},
		"state": {v.state}})
	return answer.URL, err
}

func (o oldWay) finish(ctx context.Context, _ visit, back url.Values) (person, error) {
	answer, err := o.call(ctx, url.Values{"act": {"callback"}, "type": {back.Get("type")}, "code": {back.Get("code")}})
	return person{answer.SocialUID, answer.Nickname}, err
}

// answer holds the fields that the application reads.
type answer struct {
	Code      int    `json:"code"`
	Msg       string `json:"msg"`
	URL       string `json:"url"`
	SocialUID string `json:"social_uid"`
	Nickname  string `json:"nickname"`
}

func (o oldWay) call(ctx context.Context, v url.Values) (a answer, err error) {
	v.Set("appid", o.appid)
	v.Set("timestamp", strconv.FormatInt(time.Now().Unix(), 10))
	v.Set("sign", o.sign(v))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.base+"/connect.php?"+v.Encode(), nil)
	if err != nil {
		return a, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return a, err
	}
	if a.Code != 1 {
		return a, fmt.Errorf("connect.php: %s", a.Msg)
	}
	return a, nil
}

// sign returns the MD5 of all parameters in the order of their names, and the appkey.
func (o oldWay) sign(v url.Values) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(v)) {
		text.WriteString(name + "=" + v.Get(name) + "&")
	}
	sum := md5.Sum([]byte(text.String() + "appkey=" + o.appkey))
	return hex.EncodeToString(sum[:])
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The times between two mails and two devices of one person: more from one address are refused, as they should be.
const (
	mailEvery   = time.Minute
	deviceEvery = 15 * time.Second
)

// mail asks for a code by mail. That it comes is judged at the end.
func (p *person) mail() {
	if time.Since(p.wrote) < mailEvery {
		p.userinfo()
		return
	}
	p.wrote = time.Now()
	p.mailed.Lock()
	p.mailed.count++
	to := fmt.Sprintf("soak-%d@example.com", p.mailed.count)
	p.mailed.Unlock()
	a := p.post("/oauth/signin/email", url.Values{"address": {to}})
	if p.good("code by mail", a, http.StatusSeeOther) {
		p.mailed.Lock()
		defer p.mailed.Unlock()
		p.mailed.asked = append(p.mailed.asked, asked{to, time.Now()})
	}
}

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// device connects a device: codes, the page where the person allows it, and the tokens.
func (p *person) device() {
	if p.cookie == "" || time.Since(p.connected) < deviceEvery {
		p.userinfo()
		return
	}
	p.connected = time.Now()
	begun := p.post("/oauth/device_authorization", url.Values{"client_id": {p.terminal.ID}})
	var codes struct {
		Device string `json:"device_code"`
		User   string `json:"user_code"`
	}
	json.Unmarshal(begun.body, &codes) // none is judged below
	if p.meter.note("device: codes", begun, begun.status == http.StatusOK && codes.Device != "" &&
		codes.User != ""); codes.User == "" {
		return
	}
	headers := []string{"Cookie", p.cookie, "Origin", origin}
	asked := p.post("/oauth/device", url.Values{"user_code": {codes.User}}, headers...)
	if to := strings.TrimPrefix(asked.header.Get("Location"), origin); to != "" {
		asked = p.get(to, "Cookie", p.cookie)
	}
	form := hiddenFields(asked.body)
	if p.meter.note("device: question", asked, asked.status == http.StatusOK &&
		form.Get("ticket") != ""); form.Get("ticket") == "" {
		return
	}
	form.Set("allow", "1")
	allowed := p.post("/oauth/device", form, headers...)
	ok := allowed.status == http.StatusSeeOther || allowed.status == http.StatusOK
	if p.meter.note("device: allowed", allowed, ok); !ok {
		return
	}
	p.token("device: tokens", url.Values{"grant_type": {deviceGrant}, "client_id": {p.terminal.ID},
		"device_code": {codes.Device}})
}

package storage

import (
	"context"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/apps"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/people"
	"github.com/keystile/keystile/storage/secret"
	"github.com/keystile/keystile/storage/service"
	"github.com/keystile/keystile/storage/state"
	"github.com/keystile/keystile/storage/tools"
)

// Records of users, and of what they have allowed: see package people.
type (
	User       = people.User
	Login      = people.Login
	OpenID     = people.OpenID
	Consent    = people.Consent
	Invitation = people.Invitation
)

// Records of how users authenticate: see package authn.
type (
	Session      = authn.Session
	SessionQuery = authn.SessionQuery
	Ticket       = authn.Ticket
	Factors      = authn.Factors
)

// Records of applications: see package apps.
type (
	App        = apps.App
	AppSecret  = apps.AppSecret
	Brand      = apps.Brand
	Caller     = apps.Caller
	Step       = apps.Step
	Order      = apps.Order
	OrderQuery = apps.OrderQuery
	Quota      = apps.Quota
	Settling   = apps.Settling
	TierChange = apps.TierChange
)

// Records of capabilities and their tools: see package tools.
type (
	Capability = tools.Capability
	NameTaken  = tools.NameTaken
	Place      = tools.Place
	Delivery   = tools.Delivery
)

// Records by which the service runs: see package service.
type (
	Setting    = service.Setting
	SigningKey = service.SigningKey
	Checkpoint = service.Checkpoint
	Mail       = service.Mail
)

// Types that records of all subjects share.
type (
	Change    = state.Change
	Counts    = state.Counts
	Feature   = state.Feature
	MasterKey = secret.MasterKey
	Secret    = secret.Secret
)

// Roles. A user without a role may sign in to applications, and make and keep their own.
const (
	RoleAdmin     = people.RoleAdmin
	RoleDeveloper = people.RoleDeveloper
	RoleAuditor   = people.RoleAuditor
)

// Login types (protocol 1).
const (
	LoginSelf     = people.LoginSelf
	LoginEmail    = people.LoginEmail
	LoginWX       = people.LoginWX
	LoginAlipay   = people.LoginAlipay
	LoginQQ       = people.LoginQQ
	LoginDouyin   = people.LoginDouyin
	LoginFeishu   = people.LoginFeishu
	LoginWeCom    = people.LoginWeCom
	LoginDingTalk = people.LoginDingTalk
)

// Tiers (protocol 8), the client_ids of API keys and of the console, and the statuses of an order.
const (
	TierFree       = apps.TierFree
	TierWhiteLabel = apps.TierWhiteLabel
	TierEnterprise = apps.TierEnterprise
	KeysAppID      = apps.KeysAppID
	ConsoleAppID   = apps.ConsoleAppID

	DPoPOff      = apps.DPoPOff
	DPoPAllowed  = apps.DPoPAllowed
	DPoPRequired = apps.DPoPRequired

	OrderPending  = apps.OrderPending
	OrderContact  = apps.OrderContact
	OrderApproved = apps.OrderApproved
	OrderRejected = apps.OrderRejected
	OrderCanceled = apps.OrderCanceled
)

// Kinds of capabilities (protocol 2.7).
const (
	CapabilityREST   = tools.CapabilityREST
	CapabilityMCP    = tools.CapabilityMCP
	CapabilityStatic = tools.CapabilityStatic
)

// States of a signing key.
const (
	KeyNext    = service.KeyNext
	KeyActive  = service.KeyActive
	KeyRetired = service.KeyRetired
)

// Names of settings, and their values.
const (
	SettingForcePKCE     = service.SettingForcePKCE
	SettingDefaultAccess = service.SettingDefaultAccess
	AccessAuto           = service.AccessAuto
	AccessEveryone       = service.AccessEveryone
	AccessOwner          = service.AccessOwner
)

// The kinds of documents that processes cache, as a Change names them.
const (
	ChangedKeys         = state.ChangedKeys
	ChangedSettings     = state.ChangedSettings
	ChangedApps         = state.ChangedApps
	ChangedCapabilities = state.ChangedCapabilities
	ChangedAccess       = state.ChangedAccess
	ChangedBundles      = state.ChangedBundles
	ChangedUsers        = state.ChangedUsers
)

// Limits of records.
const (
	MaxTimeout        = tools.MaxTimeout
	MaxWaiting        = tools.MaxWaiting
	MaxPayload        = tools.MaxPayload
	DeliveryLife      = tools.DeliveryLife
	MaxTold           = tools.MaxTold
	LogoutLife        = tools.LogoutLife
	MaxSessionApps    = authn.MaxSessionApps
	MaxTicketLife     = authn.MaxTicketLife
	MaxMail           = service.MaxMail
	MaxMailLife       = service.MaxMailLife
	MaxInvitationLife = people.MaxInvitationLife
)

// NewMasterKey draws a master key.
func NewMasterKey() MasterKey { return secret.NewMasterKey() }

// ParseMasterKey reads a key as Text writes it: 32 bytes in base64 or base64url, padded or not.
func ParseMasterKey(text string) (MasterKey, error) { return secret.ParseMasterKey(text) }

// NewSecret wraps a text.
func NewSecret(text string) Secret { return secret.New(text) }

// DrawSecret draws 256 random bits: 43 characters of base64url.
func DrawSecret() Secret { return secret.Draw() }

// APIKeyPattern is a regular expression that every API key matches, for those who search code and logs for secrets.
const APIKeyPattern = handle.APIKeyPattern

// NewCookie draws the value of a session cookie: 256 random bits in base64url.
func NewCookie() string { return handle.NewCookie() }

// HashCookie returns the id that a session is stored by, given the value of its cookie: 64 hex digits of SHA-256. It is
// for secrets of at least 128 random bits: passwords need a slow hash.
func HashCookie(cookie string) string { return handle.Hash(cookie) }

// KnownFeatures returns the features that this version knows; Store.Features, those that a store has.
func KnownFeatures() []Feature { return document.Features() }

// NormalizeDomain turns user input into an entry of App.Domains: see [apps.NormalizeDomain].
func NormalizeDomain(typed string) (string, error) { return apps.NormalizeDomain(typed) }

// RedirectOrigin returns scheme://host[:port] of a redirect_uri that App.AllowsRedirect has passed; of a
// private-use scheme, the scheme and a colon.
func RedirectOrigin(raw string) string { return apps.RedirectOrigin(raw) }

// RetryOnConflict calls change, which reads a record and writes it, as long as its error wraps
// [ErrConflict], because another writer has changed the record in between. It returns what change
// returned last: when ctx has ended that may be ErrConflict, and after 1,000 conflicts it is
// ErrConflict together with ErrUnavailable.
func RetryOnConflict[T any](ctx context.Context, change func() (T, error)) (T, error) {
	return document.RetryOnConflict(ctx, change)
}

package command

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/demo"
	"github.com/keystile/keystile/cmd/keystile/internal/requests"
	"github.com/keystile/keystile/cmd/keystile/internal/telemetry"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/internal/apidoc"
	"github.com/keystile/keystile/legacy"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin/connector/fake"
	"github.com/keystile/keystile/registry"
)

// assembled joins the service and what the program serves beside it.
type assembled struct {
	*keystile.Service
	behind  products
	handler http.Handler
	quiet   http.Handler // the same without log and metrics
}

// assemble makes the service of a configuration. A nil observer is none, and nil traces are none. The caller
// closes what is returned.
func assemble(ctx context.Context, c *config.Config, base string, data *dataStore, others *membership,
	traces *telemetry.Telemetry, log *slog.Logger, observer requests.Observer) (*assembled, error) {
	connectors, fakes, err := connectorsOf(c, base, data.store, log)
	if err != nil {
		return nil, err
	}
	mailer, err := mailerOf(c, data.Mail(), log)
	if err != nil {
		return nil, err
	}
	options := serviceConfig(c, base, data, log)
	options.SignIn = signInConfig(c, connectors, mailer)
	others.give(&options)
	data.ships.give(&options)
	options.Tracer = traces.Provider()
	service, err := keystile.New(ctx, options)
	if err != nil {
		return nil, err
	}
	data.serving.Store(service)
	behind, err := productsOf(c, service.Gateway)
	if err != nil {
		service.Close(ctx)
		return nil, err
	}
	if c.Demo {
		d := demo.New(demo.Config{BaseURL: base, Store: data.store, Provider: service.OAuth, Log: log})
		service.Handle(demo.Path+"/", d)
	}
	if fakes != nil {
		service.Handle(fake.Path+"/", fakes)
	}
	service.Handle("/", newRootHandler(c, base, apidoc.Of(openAPI(service)...), data, log))
	requested := requests.Front(requests.Config{Log: log, Quiet: !c.LogRequests, ClientIP: service.ClientIP,
		Observer: observer})
	quiet := service.Gateway.Front(behind.before(service.Routes(), log))
	return &assembled{service, behind, requested(traces.Front(quiet)), quiet}, nil
}

func (a *assembled) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// serviceConfig says what of a configuration is the service's.
func serviceConfig(c *config.Config, base string, data *dataStore, log *slog.Logger) keystile.Config {
	return keystile.Config{
		BaseURL: base, Store: data.store, Users: data.users.Host(), Journal: data.Journal(), Log: log, Settings: c.Settings,
		Origins: c.Origins, AllowPrivateUpstreams: c.PrivateUpstreams, TrustedProxies: c.TrustedProxies,
		Tokens: oauth.TokensConfig{
			CodeLifetime: c.CodeLifetime, AccessLifetime: c.AccessLifetime, RefreshLifetime: c.RefreshLifetime,
			SigningAlg: c.SigningAlg, SweepEvery: sweep, StaleAfter: c.StaleAfter,
		},
		Trail: gateway.TrailConfig{Keep: c.AuditKeep, MaxBytes: c.AuditSize, Observe: data.events},
		OAuth: oauth.Config{
			AllowPrivate: c.PrivateLogouts, AllowPrivateEvents: c.PrivateEvents,
			LoginTypes: c.LoginTypes, ClaimRules: c.ClaimRules, IDTokenAlgs: c.IDTokenAlgs, CodeReuseLeeway: c.CodeReuseLeeway,
			RefreshReuseLeeway:  c.RefreshReuseLeeway,
			AgentsRefreshWindow: c.AgentsRefreshWindow,
			Assertions: oauth.AssertionsConfig{
				Issuers: c.Assertions.Issuers, Connectors: issuers(c),
				TokenEndpointAudience: c.Assertions.TokenEndpointAudience,
			},
			Clients: oauth.ClientsConfig{
				Documents: c.Clients.Documents, Hosts: c.Clients.Hosts, AllowPrivate: c.Clients.AllowPrivate,
				Registration: c.Clients.Registration,
			},
		},
		Gateway: gateway.Config{
			Plans: plansOf(c), PerAddress: c.PerAddress, Products: namesOf(c.Products), CORS: corsOf(c), Shadow: c.Shadow,
			FreeRepeats: cmp.Or(c.FreeRepeats, -1), StreamLife: c.StreamLife,
		},
		Registry:  registry.Config{ResolveRefs: c.ResolveRefs, MaxCapabilities: c.MaxCapabilities, MaxTools: c.MaxTools},
		Upstreams: mcpbus.UpstreamsConfig{MaxAnswer: c.Bus.MaxAnswer},
		Bus: mcpbus.Config{
			Version: versionOf(), MaxOwnerTools: c.MaxTools, Origins: c.Bus.Origins, PageSize: c.Bus.PageSize,
			MaxName: c.Bus.MaxName, PerCaller: c.Bus.PerCaller,
		},
		Legacy: legacy.Config{ErrorStatus: c.LegacyStatus},
	}
}

// plansOf returns the tiers of protocol 8 with the operator's price of what goes beyond a quota.
func plansOf(c *config.Config) []billing.Plan {
	plans := billing.Plans()
	for i := range plans {
		plans[i].OverFen = int64(c.OverageFen)
	}
	return plans
}

// corsOf opens the proxied services to every origin, as the gateway's own endpoints are.
func corsOf(c *config.Config) (cors gateway.CORS) {
	for _, p := range c.Products {
		if p.Upstream != "" {
			cors.AlsoOpen = append(cors.AlsoOpen, p.Prefix, p.Prefix+"/")
		}
	}
	return cors
}

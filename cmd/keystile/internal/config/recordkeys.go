package config

// recordKeys are about what is recorded, and where it is shipped.
func (c *Config) recordKeys() []key {
	return []key{
		{name: "storage.stale_after", kind: "duration", fallback: "10s", help: "where several processes share the store: " +
			"for how long this one may not have read what the others revoke and change; after that it answers access " +
			"tokens with 503, until it has; at least 2s", example: "10s", set: duration(&c.StaleAfter)},
		{name: "audit.keep", kind: "duration", fallback: "400d", help: "how long the audit trail is kept, in days (d) or " +
			"as other durations are, at least 1d; 0: for ever. Older records are removed within the hour, and a sealed " +
			"checkpoint stands for them", example: "400d", set: unless0(keep(&c.AuditKeep))},
		{name: "audit.max_size", kind: "size", fallback: "2GiB", help: "how much the records of the audit trail may be " +
			"together, in MiB or GiB, at least 16MiB; 0: any size. Beyond it the oldest are removed until a tenth of it is " +
			"free", example: "2GiB", set: unless0(size(&c.AuditSize, 16<<20))},

		{name: "streams.audit", kind: "name", fallback: "off", help: "where to audit records are shipped as JSON lines, " +
			"beside the store: nowhere (off), standard output (stdout) or a store of objects (s3)", example: "s3",
			set: choice(&c.Streams.Audit, StreamOff, StreamStdout, StreamS3)},
		{name: "streams.usage", kind: "name", fallback: "off", help: "the same of usage, a row for each account, " +
			"product, tool and hour; the same at all nodes", example: "s3",
			set: choice(&c.Streams.Usage, StreamOff, StreamStdout, StreamS3)},
		{name: "streams.batch_age", kind: "duration", fallback: "1m", help: "how long an audit record may wait for " +
			"others until they are an object, up to 1h; standard output does not wait", example: "1m",
			set: duration(&c.Streams.BatchAge)},
		{name: "streams.batch_size", kind: "size", fallback: "4MiB", help: "how much of them is one at once, before it " +
			"is compressed, 1MiB to 64MiB", example: "4MiB", set: size(&c.Streams.BatchSize, 1<<20)},
		{name: "streams.s3.endpoint", kind: "origin", help: "the store of objects; without it, that of Amazon in the " +
			"region. It may be in a private network", example: "https://minio.internal:9000",
			set: maybe(text(&c.Streams.S3.Endpoint))},
		{name: "streams.s3.region", kind: "name", fallback: "us-east-1", help: "its region", example: "eu-central-1",
			set: text(&c.Streams.S3.Region)},
		{name: "streams.s3.bucket", kind: "name", help: "the bucket", example: "example-audit",
			set: maybe(text(&c.Streams.S3.Bucket))},
		{name: "streams.s3.prefix", kind: "name", help: "what the names of objects begin with; without it, with audit/ " +
			"and usage/", example: "keystile", set: maybe(text(&c.Streams.S3.Prefix))},
		{name: "streams.s3.path_style", kind: "true or false", fallback: "false", help: "whether the bucket is in the " +
			"path (https://endpoint/bucket) and not in the host, as MinIO has it", example: "true",
			set: boolean(&c.Streams.S3.PathStyle)},
		{name: "streams.s3.access_key", kind: "text", help: "the id of the key, which needs the right to put objects " +
			"(s3:PutObject) and no other", example: "AKIAIOSFODNN7EXAMPLE", set: maybe(text(&c.Streams.S3.AccessKey))},
		{name: "streams.s3.secret_key", kind: "text", help: "the key", never: inFlag, secret: true,
			set: hidden(&c.Streams.S3.SecretKey)},
		{name: "streams.s3.session_token", kind: "text", help: "what temporary keys come with; they are read once, at " +
			"the start", never: inFlag, secret: true, set: hidden(&c.Streams.S3.SessionToken)},
		{name: "streams.s3.encryption", kind: "name", help: "how the store encrypts objects: AES256 or aws:kms; without " +
			"it, as the bucket says", example: "AES256", set: maybe(choice(&c.Streams.S3.Encryption, "AES256", "aws:kms"))},
		{name: "streams.s3.kms_key", kind: "name", help: "with which key, of aws:kms; without it, that of the bucket",
			example: "arn:aws:kms:eu-central-1:111122223333:key/1234abcd", set: maybe(text(&c.Streams.S3.KMSKey))},
	}
}

// processKeys are about one process: its end, its log and what its operators see.
func (c *Config) processKeys() []key {
	return []key{
		{name: "drain", kind: "duration", example: "5s", set: c.setDrain, help: "how long the service goes on after a " +
			"signal to stop while /healthz/ready already answers 503 and answers close their connections, so that a " +
			"balancer sends it no more requests: longer than the balancer takes to ask again; 0: it stops at once; without " +
			"it, 1s where storage_url is the address of a database, which several nodes can share, and else 0"},

		{name: "log.level", kind: "name", fallback: "info", help: "what is logged: debug, info, warn or error, and what " +
			"is worse", example: "info", set: c.setLevel},
		{name: "log.format", kind: "name", fallback: "text", help: "how it is logged: text or json", example: "json",
			set: choice(&c.LogFormat, "text", "json")},
		{name: "log.requests", kind: "true or false", fallback: "true", help: "whether each request gets a line in the " +
			"log (method, route, status, time and address; never its query); of requests by strangers 60 of a kind in a " +
			"minute, and how many more there were", example: "false", set: boolean(&c.LogRequests)},

		{name: "otel.endpoint", kind: "URL", help: "the collector that traces are sent to, by OTLP over HTTP with " +
			"protobuf, without /v1/traces; without it nothing is traced", example: "http://127.0.0.1:4318",
			set: maybe(c.setCollector)},
		{name: "otel.headers", kind: "list", help: "headers of each request to the collector, as name=value with commas " +
			"between, such as a key", never: inFlag, secret: true, set: maybe(c.setCollectorHeaders)},
		{name: "otel.sample", kind: "number", fallback: "0.1", help: "the share of requests that are traced, 0 to 1, " +
			"whatever their traceparent asks for", example: "0.1", set: share(&c.OTel.Sample)},
		{name: "otel.follow", kind: "true or false", fallback: "false", help: "whether the sampled flag of traceparent " +
			"decides in place of otel.sample for what comes from trusted_proxies; only for proxies that write traceparent " +
			"themselves, because one that hands on its clients' lets them decide", example: "true",
			set: boolean(&c.OTel.Follow)},
		{name: "otel.service_name", kind: "text", fallback: "keystile", help: "what the service is called in traces",
			example: "keystile", set: text(&c.OTel.Service)},

		{name: "admin.listen", kind: "host:port", help: "an address for operators alone: /metrics for Prometheus, " +
			"/debug/pprof, /healthz/live and /healthz/ready; without it there is none", example: "127.0.0.1:9090",
			set: maybe(address(&c.AdminListen))},
		{name: "admin.hosts", kind: "list", help: "names and addresses that requests to the admin listener may ask for, " +
			"beside localhost and its own address; others are refused, which keeps web pages away from it",
			example: "metrics.internal, 10.0.0.5", set: c.setHosts},
	}
}

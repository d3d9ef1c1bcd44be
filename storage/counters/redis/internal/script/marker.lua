-- Reads what this master is known by, or makes it: whoever finds it gone knows that the counts are
-- gone too. KEYS: mark. ARGV: time, what to make, milliseconds that it lives unless somebody asks again.
local v = redis.call('GET', KEYS[1])
if not v then
  v = ARGV[2]
  redis.call('SET', KEYS[1], v)
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return v

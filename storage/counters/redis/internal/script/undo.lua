-- Takes an event back, exactly that one. KEYS: bucket and LIST of the client, bucket of the networks.
-- ARGV: time, window, field of the client or '', stamp, eighth, fields of the networks.
local nets, w, field, stamp = KEYS[3], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local v = field ~= '' and call('HGET', bucket, field)
if v and #v % 7 == 1 then
  call('LREM', list, 1, ARGV[4])
elseif v then
  local s, kept = stamps(v), {}
  for i = 1, #s do
    if s[i] ~= stamp then kept[#kept + 1] = s[i] end
  end
  if #kept == 0 then call('HDEL', bucket, field) else call('HSET', bucket, field, packed(kept)) end
end
local width = math.ceil(w / 8)
local eighth = floor(clock() / width)
for i = 6, #ARGV do
  v = call('HGET', nets, ARGV[i])
  if v then
    local at = max(eighth, (unpack_('>I5', v)))
    local counts = parse(v, at)
    local k = at - tonumber(ARGV[5]) + 1
    if counts[k] and counts[k] > 0 then
      counts[k] = counts[k] - 1
      call('HSET', nets, ARGV[i], count(counts, at))
    end
  end
end
return {1}

-- Counts an event of a client, and of the networks around it, unless one of them has had too many.
-- KEYS: bucket and LIST of the client, bucket of the networks. ARGV: time, window, limit, field, and
-- for each network its field and limit, the narrowest first.
-- Returns: admitted, remaining, microseconds until that grows, what was counted (1: the client; then
-- 2, 4 for each network), stamp, eighth.
local nets, w, limit, field = KEYS[3], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local c = open(field, clock(), w)
if c.placed and c.n >= limit then return {0, 0, c.nth(limit) + w - c.now, 0, 0, 0} end

local now, width = c.now, math.ceil(w / 8)
local eighth, around, free, reset, remaining = floor(now / width), {}, nil, w, limit - 1
for i = 5, #ARGV, 2 do
  local most_ = tonumber(ARGV[i + 1])
  local v = call('HGET', nets, ARGV[i])
  if not v and free == nil then free = room(nets, now, networkEnds(now, width)) end
  if v or free then
    local counts, total = parse(v, eighth)
    if total >= most_ then
      return {0, 0, (leaves(counts, total, eighth, most_) + eighths) * width - now, 0, 0, 0}
    end
    around[#around + 1] = {i, counts}
    remaining = min(remaining, most_ - total - 1)
  end
end

local counted, at = 0, 0
if c.placed then
  local oldest = c.n > 0 and c.nth(c.n)
  at = add(c, field, w)
  counted, remaining = 1, limit - c.n - 1
  reset = (oldest or at) + w - now
end
for _, one in ipairs(around) do
  local i, counts = one[1], one[2]
  counts[1] = counts[1] + 1
  call('HSET', nets, ARGV[i], count(counts, eighth))
  counted = counted + 2 ^ ((i - 3) / 2)
end
if #around > 0 then expire(nets, now, w * 9 / 8) end
return {1, remaining, reset, counted, at, eighth}

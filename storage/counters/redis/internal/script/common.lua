-- What all scripts share. It stands before each of them. ARGV[1] is the time in microseconds, of
-- tests alone; else it is empty and the server's clock is read.
local call, pack, unpack_ = redis.call, struct.pack, struct.unpack
local floor, min, max = math.floor, math.min, math.max

-- most is how many fields a bucket may have beside its mark: a HASH stays a listpack up to 128.
local most = 120

local function clock()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local t = call('TIME')
  return t[1] * 1000000 + t[2]
end

-- room makes place for one more field in a bucket, and reports whether there is any. ends says when
-- a value counts no more, and what to keep in its place if the clock has gone back behind it. A
-- bucket of live fields is looked through again only when the first of them ends: the field '' says when.
local function room(key, now, ends)
  if call('HLEN', key) < most then return true end
  local mark = call('HGET', key, '')
  if mark then
    local at = unpack_('>I7', mark)
    if now < at and at <= now + 86400000000 then return false end
  end
  local all, gone, first, live = call('HGETALL', key), {}, now + 86400000000, 0
  for i = 1, #all, 2 do
    if all[i] ~= '' then
      local at, kept = ends(all[i + 1])
      if at <= now then
        gone[#gone + 1] = all[i]
      else
        if kept then call('HSET', key, all[i], kept) end
        first, live = min(first, at), live + 1
      end
    end
  end
  if #gone > 0 then call('HDEL', key, unpack(gone)) end
  call('HSET', key, '', pack('>I7', first))
  return live < most
end

-- expire has a bucket end when all in it have left. The end is moved at most once in an
-- eighth of the window.
local function expire(key, now, w)
  if call('PTTL', key) < w / 1000 then call('PEXPIRE', key, floor(w / 800) + 1000) end
end

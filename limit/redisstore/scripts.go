package redisstore

// The scripts use the server's clock. All times are in microseconds. The clock may be set back, and
// a new primary may have an earlier time than the old one.

// exchangeScript settles the tokens of a bucket, by the generic cell rate algorithm. The bucket
// is the hash KEYS[1]: full_at is the time when it will be full, at that of the last exchange, and
// total the number of tokens taken since it was made. It expires 10 s after it is full. ARGV is
// every, fill, used and want of lease.Exchange; the result has taken, remaining, reset, retry and
// total.
const exchangeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local every, fill, used, want = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local bucket = redis.call('HMGET', KEYS[1], 'full_at', 'total', 'at')
local last = math.max(now, tonumber(bucket[3]) or 0) -- at is in the future if the clock was set back
local missing = math.max(0, (tonumber(bucket[1]) or 0) - last) + used * every
if want > 0 then
	want = math.min(want, math.max(0, math.floor((fill - missing) / every)))
end
missing = math.max(0, missing + want * every)
local taken = used + want
local total = (tonumber(bucket[2]) or 0) + taken
redis.call('HSET', KEYS[1], 'full_at', string.format('%.3f', now + missing), 'at', string.format('%.0f', now),
	'total', string.format('%.0f', total))
redis.call('PEXPIRE', KEYS[1], math.ceil(missing / 1000) + 10000)
local remaining = math.max(0, math.floor((fill - missing) / every))
return {taken, remaining, math.ceil(missing), math.ceil(math.max(0, missing + every - fill)), total}
`

// holdScript registers the slots of a replica. KEYS[1] is a hash: h:REPLICA and w:REPLICA are
// the slots that a replica holds and wants, held and wanted the sums. KEYS[2] is a sorted set of
// the replicas by the end of their registration. ARGV is replica, max, used, want and the time
// to live; the result is the number of slots that the replica may use.
const holdScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local replica, max, used, want, ttl =
	ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local function get(field) return tonumber(redis.call('HGET', KEYS[1], field) or 0) end
local held, wanted = get('held'), get('wanted')
local function remove(id)
	held, wanted = held - get('h:' .. id), wanted - get('w:' .. id)
	redis.call('HDEL', KEYS[1], 'h:' .. id, 'w:' .. id)
	redis.call('ZREM', KEYS[2], id)
end
local function clean(from, to)
	for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], from, to)) do
		remove(id)
	end
end
clean('-inf', now)
clean(now + ttl + 60000000, '+inf') -- the clock was set back
remove(replica)
if redis.call('ZCARD', KEYS[2]) == 0 then -- also if the server has evicted it
	redis.call('DEL', KEYS[1])
	held, wanted = 0, 0
end
local granted = 0
if used > 0 or want > 0 then
	wanted = wanted + want
	local share = want + math.floor((max - wanted) / (redis.call('ZCARD', KEYS[2]) + 1))
	if wanted > max then
		share = math.floor(max * want / wanted)
	end
	granted = math.max(1, math.min(share, max - held))
	held = held + math.max(granted, used)
	redis.call('HSET', KEYS[1], 'h:' .. replica, math.max(granted, used), 'w:' .. replica, want)
	redis.call('ZADD', KEYS[2], now + ttl, replica)
end
redis.call('HSET', KEYS[1], 'held', held, 'wanted', wanted)
redis.call('PEXPIRE', KEYS[1], math.ceil(ttl / 500) + 10000)
redis.call('PEXPIRE', KEYS[2], math.ceil(ttl / 500) + 10000)
return granted
`

// joinScript registers a replica in the sorted set KEYS[1], by the end of its registration.
// ARGV is the replica and the time to live, which is 0 to remove it; the result is the number of
// replicas.
const joinScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ttl = tonumber(ARGV[2])
redis.call('ZADD', KEYS[1], now + ttl, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ttl + 60000000, '+inf') -- the clock was set back
redis.call('PEXPIRE', KEYS[1], math.ceil(ttl / 1000) + 10000)
return redis.call('ZCARD', KEYS[1])
`

-- ARGV[2]: the sealed message. KEYS[13]: the string kept for the event; REPLY is the new reply.
local EVENT = KEYS[13]
local seen = redis.call('GET', EVENT)
if seen then return {seen} end
local session = redis.call('HMGET', SESSION, 'tenant', 'active')
if session[1] and session[1] ~= R.tenant then return redis.error_reply('TENANT the session belongs to another tenant') end

local answer
local waiting = redis.call('LLEN', QUEUE)
M = {v = 1, session_id = R.session_id, tenant = R.tenant, state = 'queued', accepted_at = now,
     present = {}, fence = 0, turn = 0, tries = 0, tag = R.tag}
if not session[2] then
  answer = {k = 'Begun', reply_id = R.rid}
  ready()
elseif waiting >= R.queue_limit then
  answer = {k = 'Full', limit = R.queue_limit}
else
  answer = {k = 'Queued', reply_id = R.rid, place = waiting + 1}
end
if answer.k ~= 'Full' then
  record('accept', R.actor)
  blobs.message = ARGV[2]
end
local result = commit(answer)
if answer.k == 'Begun' then
  redis.call('HSET', SESSION, 'tenant', R.tenant, 'active', R.rid)
elseif answer.k == 'Queued' then
  redis.call('RPUSH', QUEUE, R.rid)
end
redis.call('SET', EVENT, result[1], 'PX', WEEK)
return result

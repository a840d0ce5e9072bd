-- ARGV[2]: the sealed message. OPS is here the string kept for the event, REPLY the new reply.
local seen = redis.call('GET', OPS)
if seen then return {seen} end
local tenant = redis.call('HGET', SESSION, 'tenant')
if tenant and tenant ~= R.tenant then return redis.error_reply('TENANT the session belongs to another tenant') end

local answer
local active = redis.call('HGET', SESSION, 'active')
local waiting = redis.call('LLEN', QUEUE)
M = {v = 1, reply_id = R.rid, session_id = R.session_id, tenant = R.tenant, state = 'queued', accepted_at = now,
     present = {}, fence = 0, turn = 0, tries = 0, seal = R.tag}
if not active then
  answer = {k = 'Begun', reply_id = R.rid}
  ready()
elseif waiting >= R.queue_limit then
  answer = {k = 'Full', limit = R.queue_limit}
else
  answer = {k = 'Queued', reply_id = R.rid, place = waiting + 1}
end
if answer.k ~= 'Full' then record('accept', R.actor) end
local result = commit(answer)
if answer.k ~= 'Full' then
  redis.call('HSET', SESSION, 'tenant', R.tenant)
  redis.call('HSET', REPLY, 'message', ARGV[2])
  if answer.k == 'Begun' then
    redis.call('HSET', SESSION, 'active', R.rid)
  else
    redis.call('RPUSH', QUEUE, R.rid)
  end
end
redis.call('SET', OPS, result[1], 'PX', WEEK)
return result

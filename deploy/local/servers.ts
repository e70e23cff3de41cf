export { type MysqlOptions, type MysqlServer, type MysqlSizes, startMysql } from './mysql.ts';
export { type NatsOptions, type NatsServer, startNats } from './nats.ts';
export { readToolchain, type Toolchain } from './toolchain.ts';
